"""The tables of jobs that wait, jobs that have devices, and their workers."""

from __future__ import annotations

from collections.abc import Sequence

from muster.placements.load.kept import Kept
from muster.placements.load.sql import Rows, bools, columns, fetch, floats, ints, masks
from scheduler.model.columns import objects
from scheduler.model.jobs import NO_NODES, RunningJobs, RunState, WaitingJobs, Workers

_JOB = """j.id, j.sched_rev, j.name, j.queue_id, j.shape_id, j.priority, extract(epoch FROM j.submitted_at)::float8,
          coalesce(j.walltime_seconds::float8, 'Infinity')"""

_WAITING = """
    SELECT {job}, coalesce(extract(epoch FROM j.not_before)::float8, 0), j.state = 'held'
      FROM workloads_job j
     WHERE j.cluster_id = %(cluster)s AND j.state IN ('queued', 'held') AND {keys}
       AND NOT EXISTS (SELECT FROM workloads_attempt a WHERE a.job_id = j.id AND a.state = 'nominated')
     ORDER BY j.id"""

_UNMET = """
    SELECT DISTINCT d.job_id
      FROM workloads_jobdependency d
      JOIN workloads_job j ON j.id = d.job_id
      JOIN workloads_job before ON before.id = d.after_id
     WHERE j.cluster_id = %(cluster)s AND j.state IN ('queued', 'held') AND before.state <> 'succeeded' AND {keys}"""

_AVOIDED = """
    SELECT v.job_id, array_agg(v.node_id)
      FROM workloads_avoidednode v
      JOIN workloads_job j ON j.id = v.job_id
     WHERE j.cluster_id = %(cluster)s AND j.state IN ('queued', 'held') AND {keys}
     GROUP BY v.job_id"""

# A nominated job is queued, and has devices kept for it: it stands here, and not among the waiting.
_RUNNING = """
    SELECT DISTINCT ON (j.id) {job},
           extract(epoch FROM coalesce(a.running_at, a.created_at))::float8,
           coalesce((j.spec ->> 'min_runtime')::float8, 0),
           CASE WHEN a.state = 'nominated' THEN {nominated}
                WHEN a.state IN ('unwinding', 'stopping') THEN {stopping} ELSE {running} END
      FROM workloads_job j
      JOIN workloads_attempt a ON a.job_id = j.id AND a.state <> 'ended'
     WHERE j.cluster_id = %(cluster)s AND {keys}
     ORDER BY j.id, a.replica"""

# A worker is on its node until its pod is gone and its devices are given back.
_WORKERS = """
    SELECT w.id, j.id, r.order, w.index, w.node_id, coalesce(h.gpus, 0), coalesce(h.mig_start, -1), coalesce(h.nic, -1)
      FROM workloads_worker w
      JOIN workloads_attempt a ON a.id = w.attempt_id AND a.state <> 'ended'
      JOIN workloads_job j ON j.id = a.job_id
      JOIN workloads_role r ON r.id = w.role_id
      LEFT JOIN (SELECT hold.worker_id, bit_or(1 << gpu.index) AS gpus, min(lower(hold.slices)) AS mig_start,
                        min(nic.index) AS nic
                   FROM placements_devicehold hold
                   LEFT JOIN clusters_gpu gpu ON gpu.id = hold.gpu_id
                   LEFT JOIN clusters_nic nic ON nic.id = hold.nic_id
                  WHERE hold.state IN ('held', 'nominated') AND {holds}
                  GROUP BY hold.worker_id) h ON h.worker_id = w.id
     WHERE j.cluster_id = %(cluster)s AND w.node_id IS NOT NULL AND {keys}
       AND (h.worker_id IS NOT NULL OR w.phase NOT IN ('succeeded', 'failed', 'gone'))
     ORDER BY w.id"""

_ALL = {"keys": "true", "holds": "true"}
_SOME = {
    "keys": "j.id = ANY(%(keys)s)",
    "holds": """hold.worker_id IN (SELECT w2.id FROM workloads_worker w2 JOIN workloads_attempt a2 ON a2.id = w2.attempt_id
                                    WHERE a2.job_id = ANY(%(keys)s) AND a2.state <> 'ended')""",
}
_STATES = {"running": int(RunState.RUNNING), "stopping": int(RunState.STOPPING), "nominated": int(RunState.NOMINATED)}

Revisions = dict[int, int]


def load_waiting(cluster_id: int, kept: Kept, keys: Sequence[int] | None = None) -> tuple[WaitingJobs, Revisions]:
    """Jobs without devices, all or those of `keys`; and the revision of each as read."""
    rows = _fetch(_WAITING, cluster_id, keys)
    unmet = {key for (key,) in _fetch(_UNMET, cluster_id, keys)}
    avoided = {key: frozenset(nodes) for key, nodes in _fetch(_AVOIDED, cluster_id, keys)}
    key, revision, name, queue, shape, priority, submitted, walltime, not_before, held = columns(rows, 10)
    kept.need_shapes(shape)
    table = WaitingJobs(
        key=ints(key),
        name=objects(name),
        queue=ints(queue),
        shape=objects(map(kept.shapes.__getitem__, shape)),
        priority=ints(priority),
        submitted=floats(submitted),
        not_before=floats(not_before),
        held=bools(held),
        unmet=bools([one in unmet for one in key]),
        incomplete=bools([False] * len(rows)),
        walltime=floats(walltime),
        avoid=objects(avoided.get(one, NO_NODES) for one in key),
    )
    return table, dict(zip(key, revision, strict=True))


def load_running(cluster_id: int, kept: Kept, keys: Sequence[int] | None = None) -> tuple[RunningJobs, Revisions]:
    """Jobs that have devices, all or those of `keys`; and the revision of each as read."""
    rows = _fetch(_RUNNING, cluster_id, keys)
    key, revision, name, queue, shape, priority, submitted, walltime, started, min_runtime, state = columns(rows, 11)
    kept.need_shapes(shape)
    table = RunningJobs(
        key=ints(key),
        name=objects(name),
        queue=ints(queue),
        shape=objects(map(kept.shapes.__getitem__, shape)),
        priority=ints(priority),
        submitted=floats(submitted),
        started=floats(started),
        walltime=floats(walltime),
        min_runtime=floats(min_runtime),
        saved=floats(started),
        protected_until=floats([0.0] * len(rows)),
        state=ints(state),
    )
    return table, dict(zip(key, revision, strict=True))


def load_workers(cluster_id: int, keys: Sequence[int] | None = None) -> Workers:
    """Workers with a place on a node, of all jobs or of those of `keys`."""
    key, job, role, index, node, gpus, mig_start, nic = columns(_fetch(_WORKERS, cluster_id, keys), 8)
    return Workers(
        key=ints(key),
        job=ints(job),
        role=ints(role),
        index=ints(index),
        node=ints(node),
        gpus=masks(gpus),
        mig_start=ints(mig_start),
        nic=ints(nic),
    )


def _fetch(query: str, cluster_id: int, keys: Sequence[int] | None) -> Rows:
    text = query.format(job=_JOB, **(_ALL if keys is None else _SOME), **_STATES)
    return fetch(text, {"cluster": cluster_id, "keys": list(keys or ())})
