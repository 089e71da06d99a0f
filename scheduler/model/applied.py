"""The world right after a plan: what it starts is running. For tests, simulation, and telling a plan in full."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduler.model.jobs import JobShape, RunningJobs, RunState, Workers
from scheduler.model.plan import Plan, Unit
from scheduler.model.snapshot import Changes, Snapshot


def applied(snapshot: Snapshot, plan: Plan, now: float) -> Snapshot:
    """The snapshot with every unit of the plan carried out at once."""
    if not plan.units:
        return snapshot
    rows = np.searchsorted(snapshot.waiting.key, [unit.job for unit in plan.units if not unit.is_growth])
    started = snapshot.waiting.take(rows)
    grown = snapshot.running.take(np.isin(snapshot.running.key, [unit.job for unit in plan.units if unit.is_growth]))
    running = RunningJobs(
        **{
            name: getattr(started, name)
            for name in ("key", "name", "queue", "shape", "priority", "submitted", "walltime")
        },
        started=np.full(len(started), now),
        min_runtime=np.zeros(len(started)),
        saved=np.full(len(started), now),
        protected_until=np.zeros(len(started)),
        state=np.full(len(started), RunState.RUNNING, dtype=np.int64),
    )
    running = running.concat(grown)
    shapes = dict(zip(running.key.tolist(), running.shape, strict=True))
    first = int(snapshot.workers.key.max(initial=0)) + 1
    kept = snapshot.workers.take(np.isin(snapshot.workers.job, grown.key))
    return snapshot.changed(Changes(running=running, workers=kept.concat(_workers(plan.units, shapes, first))))


def _workers(units: Sequence[Unit], shapes: dict[int, JobShape], first: int) -> Workers:
    rows = []
    for unit in units:
        roles = {role.name: position for position, role in enumerate(shapes[unit.job].roles)}
        rows += [(unit.job, roles[w.role], w.index, w.node, w.gpus, w.mig_start, w.nic) for w in unit.workers]
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 7)
    return Workers(
        key=np.arange(first, first + len(rows), dtype=np.int64),
        job=table[:, 0],
        role=table[:, 1],
        index=table[:, 2],
        node=table[:, 3],
        gpus=table[:, 4].astype(np.uint32),
        mig_start=table[:, 5],
        nic=table[:, 6],
    )
