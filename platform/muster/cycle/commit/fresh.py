"""Is what a unit was decided on still so? Rows are locked in (table, pk) order and their revisions compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from muster.clusters.models import Node
from muster.placements.actions.stopping import LIVE
from muster.placements.load import Loaded
from muster.quotas.models import Queue
from muster.workloads.models import Attempt, Job
from scheduler.model.plan import Unit
from scheduler.model.queues import NO_PARENT
from scheduler.model.snapshot import Snapshot


@dataclass(frozen=True)
class Locked:
    """The rows that a plan is about, locked until the commit ends."""

    jobs: dict[int, Job]
    victims: dict[int, list[Attempt]]
    """Live attempts by the key of their job."""
    queues: dict[int, int]
    """Revision by key."""
    nodes: dict[int, int]
    """Revision by key."""


def lock_rows(loaded: Loaded, units: Sequence[Unit]) -> Locked:
    """Lock jobs, victims' attempts, queues and nodes, one statement per table."""
    victim_ids = {stop.job for unit in units for stop in unit.stops}
    job_ids = {unit.job for unit in units} | victim_ids
    node_ids = {worker.node for unit in units for worker in unit.workers}
    jobs = Job.objects.select_for_update(no_key=True).filter(pk__in=job_ids).order_by("pk")
    locked = {job.pk: job for job in jobs}
    victims: dict[int, list[Attempt]] = {}
    attempts = Attempt.objects.select_for_update(no_key=True).filter(job__in=victim_ids, state__in=LIVE)
    for attempt in attempts.order_by("pk"):
        attempt.job = locked[attempt.job_id]
        victims.setdefault(attempt.job_id, []).append(attempt)
    # Quotas are written under their queue's lock; sharing ours lets several clusters commit at once.
    queues = Queue.objects.raw(_LOCK_QUEUES, [sorted(_queue_paths(loaded, units))])
    nodes = Node.objects.select_for_update(no_key=True).filter(pk__in=node_ids).order_by("pk")
    return Locked(
        jobs=locked,
        victims=victims,
        queues={queue.pk: queue.sched_rev for queue in queues},
        nodes=dict(nodes.values_list("pk", "sched_rev")),
    )


_LOCK_QUEUES = "SELECT id, sched_rev FROM quotas_queue WHERE id = ANY(%s) ORDER BY id FOR SHARE"


def fresh_units(loaded: Loaded, units: Sequence[Unit], locked: Locked) -> list[Unit]:
    """The units of which nothing has changed, without those that counted on devices which a dropped one would have freed."""
    kept: list[Unit] = []
    lost_nodes: set[int] = set()
    for unit in units:
        nodes = {worker.node for worker in unit.workers}
        if _is_fresh(loaded, unit, nodes, locked) and not nodes & lost_nodes:
            kept.append(unit)
        else:
            lost_nodes |= _freed_nodes(loaded.snapshot, unit)
    return kept


def _is_fresh(loaded: Loaded, unit: Unit, nodes: Iterable[int], locked: Locked) -> bool:
    job_keys = [unit.job, *(stop.job for stop in unit.stops)]
    if any(stop.job not in locked.victims for stop in unit.stops):
        return False
    return (
        all(key in locked.jobs and locked.jobs[key].sched_rev == loaded.job_revisions.get(key) for key in job_keys)
        and all(locked.nodes.get(key) == loaded.node_revisions.get(key, -1) for key in nodes)
        and all(locked.queues.get(key) == loaded.queue_revisions.get(key) for key in _queue_path(loaded, unit))
    )


def _queue_paths(loaded: Loaded, units: Iterable[Unit]) -> set[int]:
    return {key for unit in units for key in _queue_path(loaded, unit)}


def _queue_path(loaded: Loaded, unit: Unit) -> list[int]:
    """The queue of a unit's job with its ancestors."""
    snapshot = loaded.snapshot
    row = int(np.searchsorted(snapshot.waiting.key, unit.job))
    parents = {queue.key: queue.parent for queue in snapshot.queues}
    path, key = [], int(snapshot.waiting.queue[row])
    while key != NO_PARENT:
        path.append(key)
        key = parents[key]
    return path


def _freed_nodes(snapshot: Snapshot, unit: Unit) -> set[int]:
    """Nodes on which the stops of a unit would have freed something."""
    stopped = np.isin(snapshot.workers.job, [stop.job for stop in unit.stops])
    return set(snapshot.workers.node[stopped].tolist())
