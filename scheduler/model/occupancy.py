"""What is in use on each node: GPUs as masks, and per GPU the kind and amount of use."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from scheduler.model.columns import IntArray, MaskArray, positions
from scheduler.model.instances import instance_of
from scheduler.model.jobs import DeviceKind, JobShape, RunningJobs, Workers
from scheduler.model.nodes import Layout, distinct
from scheduler.model.resources import MAX_GPUS

NOBODY = -1


@dataclass
class Occupancy:
    """Free and used amounts, N nodes of up to 16 GPUs. Snapshots hold one that nobody changes; plans work on copies."""

    free: MaskArray
    """[N] GPUs that are healthy and wholly unused."""
    ours: MaskArray
    """[N] GPUs that may be given at all, in use or not."""
    cpu: IntArray
    """[N] free millicores."""
    memory: IntArray
    """[N] free bytes."""
    kind: npt.NDArray[np.uint8]
    """[N, 16] DeviceKind of GPUs that are in use in parts (SHARE, MIG, SLICE); 0 for all others."""
    milli: npt.NDArray[np.int16]
    """[N, 16] thousandths in use (SHARE), or replicas in use (SLICE)."""
    slices: npt.NDArray[np.uint8]
    """[N, 16] mask of the MIG memory slices in use."""
    compute: npt.NDArray[np.uint8]
    """[N, 16] MIG compute slices in use."""
    workers: IntArray
    """[N] workers of ours."""
    owner: IntArray
    """[N] key of the exclusive job that has the whole node; -1 = nobody."""

    def copy(self) -> Occupancy:
        return Occupancy(**{field.name: getattr(self, field.name).copy() for field in fields(self)})


@dataclass(frozen=True, slots=True)
class Site:
    """Nodes and what is in use on them."""

    layout: Layout
    used: Occupancy


def empty(layout: Layout, *, pristine: bool = False) -> Occupancy:
    """No worker of ours anywhere. `pristine`: no pods of others and no fault either, as if everything were new."""
    nodes, count = layout.nodes, len(layout.nodes)
    cpu, memory = nodes.cpu.copy(), nodes.memory.copy()
    if not pristine:
        cpu -= nodes.others_cpu
        memory -= nodes.others_memory
    ours = layout.all_gpus if pristine else layout.healthy_gpus
    return Occupancy(
        free=ours.copy(),
        ours=ours,
        cpu=cpu,
        memory=memory,
        kind=np.zeros((count, MAX_GPUS), dtype=np.uint8),
        milli=np.zeros((count, MAX_GPUS), dtype=np.int16),
        slices=np.zeros((count, MAX_GPUS), dtype=np.uint8),
        compute=np.zeros((count, MAX_GPUS), dtype=np.uint8),
        workers=np.zeros(count, dtype=np.int64),
        owner=np.full(count, NOBODY, dtype=np.int64),
    )


def occupy(layout: Layout, running: RunningJobs, workers: Workers) -> Occupancy:
    """Put the workers of all running jobs on their nodes."""
    used = empty(layout)
    if not len(workers):
        return used
    node = positions(layout.nodes.key, workers.node, "node")
    job = positions(running.key, workers.job, "job")
    shapes, shape_of_job = distinct(running.shape)
    shape = shape_of_job[job]
    table = _role_table(shapes)
    cpu, memory, kind = (column[shape, workers.role] for column in table)
    np.subtract.at(used.cpu, node, cpu)
    np.subtract.at(used.memory, node, memory)
    np.add.at(used.workers, node, 1)
    taken = np.zeros(len(used.free), dtype=np.uint32)
    np.bitwise_or.at(taken, node, workers.gpus)
    used.free &= ~taken
    exclusive = np.array([s.exclusive for s in shapes])[shape]
    used.owner[node[exclusive]] = workers.job[exclusive]
    _add_shares(used, layout, shapes, _Parts(node, shape, workers, kind))
    return used


@dataclass(frozen=True)
class _Parts:
    """Per worker: node row, shape number, table row and kind."""

    node: IntArray
    shape: IntArray
    workers: Workers
    kind: IntArray


def _role_table(shapes: list[JobShape]) -> tuple[IntArray, IntArray, IntArray]:
    """[shapes, roles] CPU, memory and device kind of one worker."""
    width = max(len(shape.roles) for shape in shapes)
    columns = tuple(np.zeros((len(shapes), width), dtype=np.int64) for _ in range(3))
    for row, shape in enumerate(shapes):
        for position, role in enumerate(shape.roles):
            values = (role.cpu, role.memory, int(role.devices.kind))
            for column, value in zip(columns, values, strict=True):
                column[row, position] = value
    return columns[0], columns[1], columns[2]


def _add_shares(used: Occupancy, layout: Layout, shapes: list[JobShape], parts: _Parts) -> None:
    """Amounts on GPUs that several workers may share; one row at a time, for there are few."""
    shared = np.flatnonzero((parts.kind != DeviceKind.WHOLE) & (parts.kind != DeviceKind.NONE))
    for row in shared.tolist():
        node, gpus = int(parts.node[row]), int(parts.workers.gpus[row])
        devices = shapes[parts.shape[row]].roles[int(parts.workers.role[row])].devices
        model = layout.models[layout.model_of[node]]
        for gpu in range(MAX_GPUS):
            if not gpus >> gpu & 1:
                continue
            used.kind[node, gpu] = devices.kind
            if devices.kind == DeviceKind.SHARE:
                used.milli[node, gpu] += devices.milli_on(model)
            elif devices.kind == DeviceKind.SLICE:
                used.milli[node, gpu] += 1
            else:
                instance = instance_of(model.name, devices.profile)
                if instance is None:
                    raise ValueError(f"{model.name} has no MIG profile {devices.profile}")
                used.slices[node, gpu] |= np.uint8(instance.mask_at(int(parts.workers.mig_start[row])))
                used.compute[node, gpu] += instance.compute
