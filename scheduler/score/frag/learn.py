"""From the core's own columns to the values this package works on: task shapes of roles, the mix of a snapshot, rests of nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from scheduler.model.columns import AnyArray
from scheduler.model.hardware import GpuModel
from scheduler.model.instances import instance_of
from scheduler.model.jobs import DeviceKind, JobShape, Role, RunningJobs, WaitingJobs
from scheduler.model.nodes import Layout, distinct
from scheduler.model.occupancy import Occupancy
from scheduler.model.resources import MILLI_PER_GPU, PARTS_PER_MILLI, mig_parts
from scheduler.model.snapshot import Snapshot
from scheduler.place.models import serving_models
from scheduler.score.frag.growth import Rest
from scheduler.score.frag.mix import TaskShape, WorkloadMix


def task_of(role: Role, models: Sequence[GpuModel]) -> TaskShape | None:
    """What one worker of a role asks for on a cluster with these GPU models; None if none of them serves it.

    A part of a GPU that depends on the model (memory, MIG) is that of the first model that serves.
    """
    if role.devices.kind == DeviceKind.NONE:
        return TaskShape(0, 0, role.cpu, role.memory)
    serving = serving_models(role, models)
    if not serving:
        return None
    names = tuple(sorted(model.name for model in serving))
    is_any = len(names) == len(models)
    gpus = role.devices.count if role.devices.kind in {DeviceKind.WHOLE, DeviceKind.SLICE} else 1
    return TaskShape(gpus, _milli(role, serving[0]), role.cpu, role.memory, () if is_any else names)


def mix_of(snapshot: Snapshot) -> WorkloadMix:
    """The GPU workers of all jobs of a snapshot, waiting and running, by frequency."""
    models, counts = snapshot.layout.models, Counter[TaskShape]()
    for shape, jobs in (*_shapes(snapshot.waiting), *_shapes(snapshot.running)):
        for role in shape.roles:
            task = task_of(role, models)
            if task is not None and task.gpus:
                counts[task] += jobs * role.workers
    total = counts.total()
    return tuple((task, count / total) for task, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def rest_of(layout: Layout, used: Occupancy, rows: AnyArray | slice = slice(None)) -> Rest:
    """What is left on these nodes. GPUs cut by MIG or shared by time have no share to give: they count as in use."""
    width = int(layout.gpu_count.max(initial=1)) or 1
    bits = np.arange(width, dtype=np.uint32)
    free = (used.free[rows][:, None] >> bits & 1).astype(np.bool_)
    ours = (used.ours[rows][:, None] >> bits & 1).astype(np.bool_)
    shared = (used.kind[rows][:, :width] == DeviceKind.SHARE) & ours
    left = np.where(shared, MILLI_PER_GPU - used.milli[rows][:, :width].astype(np.int64), 0)
    return Rest(
        cpu=used.cpu[rows].astype(np.float64),
        memory=used.memory[rows].astype(np.float64),
        left=np.where(free, MILLI_PER_GPU, left),
        model=layout.model_of[rows],
    )


def _milli(role: Role, model: GpuModel) -> int:
    """Thousandths of each GPU."""
    if role.devices.kind == DeviceKind.SHARE:
        return role.devices.milli_on(model)
    instance = instance_of(model.name, role.devices.profile) if role.devices.kind == DeviceKind.MIG else None
    return mig_parts(instance.compute, instance.total_compute) // PARTS_PER_MILLI if instance else MILLI_PER_GPU


def _shapes(jobs: WaitingJobs | RunningJobs) -> Iterator[tuple[JobShape, int]]:
    """Each job shape with the number of its jobs."""
    shapes, number = distinct(jobs.shape)
    yield from zip(shapes, np.bincount(number, minlength=len(shapes)).tolist(), strict=True)
