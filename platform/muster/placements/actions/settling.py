"""`settle`: from what was seen of an attempt's pods to states, holds and intents. Safe to call any number of times.

Locks go job first, then attempt, then nodes by pk, as in every action and in the cycle's commit.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from django.db import transaction

from muster.clusters.models import Node
from muster.common import clock
from muster.common.choices import ChangeKind
from muster.common.events import record_changes
from muster.placements.actions.ending import avoid_nodes, lock_attempt, open_stop
from muster.placements.actions.holds import release_holds
from muster.placements.checkpoints import outcome_of
from muster.placements.choices import OPEN_INTENTS
from muster.placements.faults import Member
from muster.placements.models import Placement, Stop
from muster.placements.settlement import RoleNeeds, Scene, Settlement, decide
from muster.workloads.choices import AttemptState, JobState
from muster.workloads.models import Attempt, Job, JobDependency, Role, Worker
from muster.workloads.states import move, note_job

ENDING = (AttemptState.UNWINDING, AttemptState.STOPPING)


@transaction.atomic
def settle(attempt_id: int) -> None:
    """Bring an attempt, its job and its holds to what its workers' observed columns say."""
    attempt = lock_attempt(attempt_id)
    # An attempt that is stopped with all its pods gone already ends in the second round.
    while apply(attempt, decide(read_scene(attempt))) and attempt.state in ENDING:
        pass


def settle_live(cluster_id: int) -> int:
    """Settle every attempt of the cluster that has not ended; the number of attempts looked at."""
    live = Attempt.objects.filter(job__cluster_id=cluster_id).exclude(state=AttemptState.ENDED)
    attempt_ids = list(live.order_by("pk").values_list("pk", flat=True))
    for attempt_id in attempt_ids:
        settle(attempt_id)
    return len(attempt_ids)


def read_scene(attempt: Attempt) -> Scene:
    """What `decide` needs to know of a locked attempt."""
    job = attempt.job
    roles = list(Role.objects.filter(job=job).order_by("order"))
    ran = (clock.now() - attempt.running_at).total_seconds() if attempt.running_at else 0.0
    return Scene(
        attempt_state=attempt.state,
        job_state=job.state,
        members=tuple(_members(attempt)),
        roles=tuple(RoleNeeds(role.name, role.min_workers, role.ends_job) for role in roles),
        cause=attempt.cause,
        has_open_placement=attempt.state != AttemptState.RUNNING and _has_open(Placement, attempt),
        has_open_stop=attempt.state in ENDING and _has_open(Stop, attempt, worker=None),
        ran_seconds=ran,
        retries=job.retries,
        own_faults=job.own_faults,
        unwinds=job.unwinds,
    )


def _has_open(kind: type[Placement | Stop], attempt: Attempt, **which: None) -> bool:
    return kind._default_manager.filter(attempt=attempt, state__in=OPEN_INTENTS, **which).exists()


def _members(attempt: Attempt) -> Iterable[Member]:
    columns = ("pk", "role__name", "index", "phase", "rank", "node_id", "node__name", "node__ready", "pod_uid")
    seen = ("exit_code", "reason", "message", "last_lines", "ended_at")
    for row in Worker.objects.filter(attempt=attempt).order_by("pk").values_list(*columns, *seen):
        pk, role, index, phase, rank, node_id, node_name, node_ready, uid, *rest = row
        yield Member(
            pk,
            role,
            index,
            phase,
            rank,
            node_id,
            node_name or "",
            node_ready is not False,
            bool(uid),
            *rest,
        )


def apply(attempt: Attempt, settlement: Settlement) -> bool:
    """Write what was decided; whether the attempt changed its state."""
    job, now = attempt.job, clock.now()
    release_holds(settlement.gone, now)
    avoid_nodes(job, settlement.avoid, reason=settlement.message)
    for attempt_state, cause in settlement.attempt_moves:
        move(attempt, attempt_state, cause, message=settlement.message)
    for job_state, cause in settlement.job_moves:
        _count(job, job_state, settlement, now)
        move(job, job_state, cause, message=settlement.message or attempt.message)
    if settlement.stop is not None:
        open_stop(attempt, settlement.stop, message=settlement.message)
    if job.state == JobState.SUCCEEDED and settlement.job_moves:
        _tell_dependents(job)
    if attempt.state == AttemptState.ENDED and settlement.attempt_moves:
        _tell_lost_nodes(attempt)
        _note_checkpoints(attempt)
    return bool(settlement.attempt_moves)


def _count(job: Job, to: str, settlement: Settlement, now: dt.datetime) -> None:
    """Columns that change with a job's state: how often it failed, and until when it waits."""
    if to == JobState.RUNNING:
        job.unwinds = 0
    if to in (JobState.QUEUED, JobState.FAILED):
        job.own_faults += settlement.counts_own_fault
        job.unwinds += settlement.counts_refusal
        job.not_before = now + dt.timedelta(seconds=settlement.pause) if settlement.pause else None
    job.save(update_fields=["unwinds", "own_faults", "not_before"])


def _tell_dependents(job: Job) -> None:
    """Jobs that waited for this one are candidates now, in whatever cluster they are."""
    by_cluster: dict[int, list[int]] = {}
    for cluster_id, job_id in JobDependency.objects.filter(after=job).values_list("job__cluster_id", "job_id"):
        by_cluster.setdefault(cluster_id, []).append(job_id)
    for cluster_id, job_ids in by_cluster.items():
        record_changes(cluster_id, ChangeKind.JOB, job_ids)


def _note_checkpoints(attempt: Attempt) -> None:
    """How the checkpoint of each stop of an ended attempt ended, on the Stop and in the job's story."""
    if not (attempt.job.spec.get("checkpoint") or {}).get("command"):
        return
    said = dict(attempt.workers.exclude(started_at=None).order_by("pk").values_list("pk", "message"))
    stops = Stop.objects.filter(attempt=attempt, outcome="")
    for stop in stops.order_by("pk") if said else ():
        stopped = said.values() if stop.worker_id is None else [said.get(stop.worker_id, "")]
        stop.outcome, words = outcome_of(stopped)
        stop.save(update_fields=["outcome"])
        note_job(attempt.job, kind="checkpoint", message=words, outcome=stop.outcome)


def _tell_lost_nodes(attempt: Attempt) -> None:
    """Nodes that left the cluster stay in the snapshot only as long as something of ours is on them."""
    lost = Node.objects.filter(workers__attempt=attempt, present=False)
    record_changes(attempt.job.cluster_id, ChangeKind.NODE, sorted(set(lost.values_list("pk", flat=True))))
