"""The snapshot that a process keeps per cluster, and how it follows the rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from muster.clusters.models import Cluster
from muster.clusters.profiles import policy_of
from muster.placements.load import metrics
from muster.placements.load.changes import Named, changes_since, last_number, number_changes
from muster.placements.load.jobs import load_running, load_waiting, load_workers
from muster.placements.load.kept import Kept
from muster.placements.load.loaded import Loaded
from muster.placements.load.nodes import load_nodes
from muster.placements.load.queues import load_queues
from muster.placements.load.sql import one_view
from scheduler.model.snapshot import Changes, Snapshot, differences

log = structlog.get_logger(__name__)

RECHECK_SECONDS = 3600.0
"""How often a snapshot built from nothing is held against the one that followed the changes."""
MANY = 20_000
"""Rows named by changes beyond which reading everything is cheaper."""


@dataclass
class _Memory:
    loaded: Loaded
    checked_at: float
    """On the monotonic clock."""


_memories: dict[int, _Memory] = {}


def load(cluster_id: int, *, numbering: bool = False, recheck: bool = False) -> Loaded:
    """The cluster as it is now, in one view of the database.

    `numbering` gives new changes their numbers first; it needs the cluster's lock, so only the cycle asks for it. Without it the
    numbers given by the cycle are followed.
    `recheck` holds the result against a snapshot built from nothing, as is done every hour anyway.
    """
    with one_view():
        cluster = Cluster.objects.get(pk=cluster_id)
        if numbering:
            number_changes(cluster_id)
        memory = _memories.get(cluster_id)
        loaded = None if memory is None else _follow(memory.loaded, cluster)
        if memory is None or loaded is None:
            _memories[cluster_id] = _Memory(_build(cluster), time.monotonic())
            return _memories[cluster_id].loaded
        if recheck or time.monotonic() - memory.checked_at > RECHECK_SECONDS:
            loaded = _checked(cluster, loaded)
            memory.checked_at = time.monotonic()
    memory.loaded = loaded
    return loaded


def forget(cluster_id: int | None = None) -> None:
    """Drop what is kept of a cluster, or of all: the next load builds it from nothing."""
    if cluster_id is None:
        _memories.clear()
    else:
        _memories.pop(cluster_id, None)


def _build(cluster: Cluster) -> Loaded:
    """Everything, from nothing."""
    metrics.REBUILDS.labels(cluster.name).inc()
    memory = _memories.get(cluster.pk)
    kept = memory.loaded.kept if memory else Kept()
    kept.refresh_models()
    levels = _levels(cluster)
    nodes, node_revisions = load_nodes(cluster.pk, levels, kept)
    queues, queue_revisions = load_queues(cluster.pk)
    waiting, waiting_revisions = load_waiting(cluster.pk, kept)
    running, running_revisions = load_running(cluster.pk, kept)
    snapshot = Snapshot(
        levels=levels,
        nodes=nodes,
        queues=queues,
        waiting=waiting,
        running=running,
        workers=load_workers(cluster.pk),
    )
    return Loaded(
        cluster_id=cluster.pk,
        cluster_name=cluster.name,
        epoch=cluster.epoch,
        seq=last_number(cluster.pk),
        snapshot=snapshot,
        policy=policy_of(cluster.profile or {}),
        kept=kept,
        node_revisions=node_revisions,
        job_revisions=waiting_revisions | running_revisions,
        queue_revisions=queue_revisions,
    )


def _follow(before: Loaded, cluster: Cluster) -> Loaded | None:
    """`before` with the rows that changes name read again; None when everything must be."""
    named = changes_since(cluster.pk, before.seq)
    if named.has_gap or named.has_cluster or len(named.nodes) + len(named.jobs) > MANY:
        return None
    after = replace(before, epoch=cluster.epoch, seq=named.seq)
    return _apply(after, named) if named.seq != before.seq else after


def _apply(before: Loaded, named: Named) -> Loaded:
    cluster_id, kept, changes = before.cluster_id, before.kept, Changes()
    node_revisions, job_revisions = before.node_revisions, before.job_revisions
    queue_revisions = before.queue_revisions
    if named.nodes:
        nodes, fresh = load_nodes(cluster_id, before.snapshot.levels, kept, named.nodes)
        changes = replace(changes, nodes=nodes, gone_nodes=_gone(named.nodes, fresh))
        node_revisions = _merged(node_revisions, named.nodes, fresh)
    if named.jobs:
        waiting, fresh_waiting = load_waiting(cluster_id, kept, named.jobs)
        running, fresh_running = load_running(cluster_id, kept, named.jobs)
        fresh = fresh_waiting | fresh_running
        workers = load_workers(cluster_id, named.jobs)
        gone = _gone(named.jobs, fresh)
        changes = replace(changes, waiting=waiting, running=running, workers=workers, gone_jobs=gone)
        job_revisions = _merged(job_revisions, named.jobs, fresh)
    if named.has_queues:
        queues, queue_revisions = load_queues(cluster_id)
        changes = replace(changes, queues=queues)
    return replace(
        before,
        snapshot=before.snapshot.changed(changes),
        node_revisions=node_revisions,
        job_revisions=job_revisions,
        queue_revisions=queue_revisions,
    )


def _checked(cluster: Cluster, followed: Loaded) -> Loaded:
    """A snapshot from nothing, after counting in what the followed one differs from it."""
    fresh = _build(cluster)
    for table in differences(followed.snapshot, fresh.snapshot):
        metrics.LOAD_DIFFERENCES.labels(cluster.name, table).inc()
        log.error("load.difference", cluster=cluster.name, table=table)
    return fresh


def _levels(cluster: Cluster) -> tuple[str, ...]:
    return tuple(level["name"] for level in cluster.levels)


def _gone(named: Sequence[int], fresh: dict[int, int]) -> tuple[int, ...]:
    return tuple(key for key in named if key not in fresh)


def _merged(before: dict[int, int], named: Sequence[int], fresh: dict[int, int]) -> dict[int, int]:
    """Revisions with those of the named rows replaced. The dictionary is the memory's own and changed in place."""
    for key in named:
        before.pop(key, None)
    before.update(fresh)
    return before
