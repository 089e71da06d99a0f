"""What fits now: how many jobs of each size could start at this instant, and which free GPUs are stranded, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from scheduler.model.columns import BoolArray, FloatArray, IntArray, MaskArray
from scheduler.model.hardware import LINK_NVLINK
from scheduler.model.jobs import DeviceKind
from scheduler.model.nodes import HOST, Layout
from scheduler.model.occupancy import NOBODY
from scheduler.model.resources import MAX_GPUS, MILLI_PER_GPU
from scheduler.model.snapshot import Snapshot
from scheduler.model.tables import DeviceNeed
from scheduler.score.frag.growth import fragmentation
from scheduler.score.frag.learn import rest_of
from scheduler.score.frag.mix import Mix, WorkloadMix
from scheduler.score.frag.tables import PLAIN_F, Tables

SIZES = (1, 2, 4, 8)
CLUSTER = "cluster"
"""Level name for all nodes together."""


@dataclass(frozen=True, slots=True)
class PerGpu:
    """What comes with each GPU of a job: millicores and bytes. A free GPU without them is of no use."""

    cpu: int = 0
    memory: int = 0


@dataclass(frozen=True, slots=True)
class SizeFit:
    """Workers of `gpus` GPUs on one node: how many could start now, and how many with all their GPUs joined by NVLink."""

    gpus: int
    jobs: int
    joined: int


@dataclass(frozen=True, slots=True)
class DomainFit:
    """Jobs of `nodes` whole nodes in one domain of `level`: how many could start now."""

    level: str
    nodes: int
    jobs: int


@dataclass(frozen=True)
class Fits:
    """The answer. `largest` per level: whole nodes of the domain that has most of them free."""

    sizes: tuple[SizeFit, ...]
    largest_gpus: int
    """Most GPUs of one node that one worker could have."""
    domains: tuple[DomainFit, ...]
    largest: tuple[DomainFit, ...]


def fits_now(snapshot: Snapshot, per_gpu: PerGpu | None = None) -> Fits:
    """Count jobs by size, each size as if it came alone."""
    layout, used = snapshot.layout, snapshot.occupancy
    able = _able(snapshot)
    free = np.where(able, used.free, 0).astype(np.uint32)
    fed = _fed(snapshot, per_gpu or PerGpu())
    count = np.minimum(np.bitwise_count(free).astype(np.int64), fed)
    sizes = tuple(SizeFit(size, int((count // size).sum()), _joined(layout, free, fed, size)) for size in SIZES)
    whole = able & (layout.gpu_count > 0) & (free == layout.all_gpus) & (fed >= layout.gpu_count)
    domains = tuple(_whole_nodes(layout, whole))
    largest = {fit.level: fit for fit in _most(layout, whole)}
    return Fits(sizes, int(count.max(initial=0)), domains, tuple(largest.values()))


class StrandedBy(StrEnum):
    """Why a free GPU, or a free part of one, cannot be used; of several causes the first counts."""

    HEALTH = "health"
    """It is broken, or its node is not ready."""
    CORDON = "cordon"
    CPU = "cpu"
    """Its node has no CPU left for it."""
    MEMORY = "memory"
    SHARE = "share"
    """The rest of a shared GPU: too small for anything in the mix."""
    NVLINK = "nvlink"
    """Every GPU it is joined to is in use: one alone."""


def stranded(snapshot: Snapshot, per_gpu: PerGpu | None = None, mix: WorkloadMix = ()) -> dict[StrandedBy, IntArray]:
    """[N] milli-GPU per cause. GPUs that pods of others hold are in use, not stranded."""
    layout, used, needs = snapshot.layout, snapshot.occupancy, per_gpu or PerGpu()
    nodes = layout.nodes
    free = np.bitwise_count(used.free).astype(np.int64)
    broken = np.bitwise_count(layout.all_gpus & nodes.unhealthy & ~nodes.others_gpus).astype(np.int64)
    by_cpu, by_memory = _times(used.cpu, needs.cpu), _times(used.memory, needs.memory)
    up = layout.usable
    no_cpu = np.where(up, free - np.minimum(free, by_cpu), 0)
    no_memory = np.where(up, free - no_cpu - np.minimum(free - no_cpu, by_memory), 0)
    alone = np.minimum(np.where(up, _alone(layout, used.free), 0), free - no_cpu - no_memory)
    found = {
        StrandedBy.HEALTH: broken + np.where(nodes.ready, 0, free),
        StrandedBy.CORDON: np.where(nodes.ready & nodes.cordoned, free, 0),
        StrandedBy.CPU: no_cpu,
        StrandedBy.MEMORY: no_memory,
        StrandedBy.NVLINK: alone,
    }
    milli: dict[StrandedBy, IntArray] = {cause: amount * MILLI_PER_GPU for cause, amount in found.items()}
    milli[StrandedBy.SHARE] = np.where(up, _remainders(snapshot, mix), 0)
    return milli


def fragments(snapshot: Snapshot, mix: WorkloadMix) -> FloatArray:
    """[N] F_n in milli-GPU for the tasks of the mix that need GPUs. Its sum, over all that is free, is the fragmentation shown."""
    tasks = tuple((task, share) for task, share in mix if task.gpus)
    if not tasks:
        return np.zeros(len(snapshot.nodes))
    tables = Tables.build(Mix.build(tasks, [model.name for model in snapshot.layout.models]), None, PLAIN_F)
    return np.where(snapshot.layout.usable, fragmentation(tables, rest_of(snapshot.layout, snapshot.occupancy)), 0.0)


def free_milli(snapshot: Snapshot) -> IntArray:
    """[N] free milli-GPU on nodes that may take work, rests of shared GPUs included."""
    left = rest_of(snapshot.layout, snapshot.occupancy).left.sum(axis=1)
    return np.where(snapshot.layout.usable, left, 0)


def _able(snapshot: Snapshot) -> BoolArray:
    """Nodes that may take work and belong to no exclusive job."""
    able: BoolArray = snapshot.layout.usable & (snapshot.occupancy.owner == NOBODY)
    return able


def _fed(snapshot: Snapshot, needs: PerGpu) -> IntArray:
    """[N] GPUs for which CPU and memory are left."""
    used = snapshot.occupancy
    return np.minimum(_times(used.cpu, needs.cpu), _times(used.memory, needs.memory))


def _times(amount: IntArray, each: int) -> IntArray:
    return np.maximum(amount, 0) // each if each else np.full(len(amount), MAX_GPUS)


def _joined(layout: Layout, free: MaskArray, fed: IntArray, size: int) -> int:
    """Workers that find all their GPUs joined by NVLink; one GPU alone always is."""
    if size == 1:
        return int(np.minimum(np.bitwise_count(free), fed).sum())
    if not len(free):
        return 0
    lookup = layout.lookup(DeviceNeed(size, frozenset({LINK_NVLINK})))
    times = lookup.times[lookup.slots(layout.shape_of, free)].astype(np.int64)
    return int(np.minimum(times, fed // size).sum())


def _whole_nodes(layout: Layout, whole: BoolArray) -> Iterator[DomainFit]:
    """Sizes 2, 4, 8, ... up to what the largest domain has, level by level."""
    for level, count in _per_domain(layout, whole):
        size = 2
        while size <= count.max(initial=0):
            yield DomainFit(level, size, int((count // size).sum()))
            size *= 2


def _most(layout: Layout, whole: BoolArray) -> Iterator[DomainFit]:
    for level, count in _per_domain(layout, whole):
        yield DomainFit(level, int(count.max(initial=0)), int(count.max(initial=0) > 0))


def _per_domain(layout: Layout, whole: BoolArray) -> Iterator[tuple[str, IntArray]]:
    """Free whole nodes per domain: of the whole cluster, then of each level that has domains, outermost first."""
    yield CLUSTER, np.array([int(whole.sum())])
    for level, domain in zip(layout.levels, layout.domain_of, strict=True):
        if level != HOST and (domain >= 0).any():
            inside = domain[whole & (domain >= 0)]
            yield level, np.bincount(inside, minlength=int(domain.max()) + 1)


def _alone(layout: Layout, free: MaskArray) -> IntArray:
    """[N] free GPUs that have NVLink, but to no other free GPU."""
    alone = np.zeros(len(free), dtype=np.int64)
    for number, shape in enumerate(layout.shapes):
        peers = [sum(1 << b for b, links in enumerate(row) if links) for row in shape.links]
        rows = layout.shape_of == number
        for gpu, joined in enumerate(peers):
            if joined:
                is_free = (free[rows] >> np.uint32(gpu) & 1).astype(np.bool_)
                alone[rows] += is_free & ((free[rows] & np.uint32(joined)) == 0)
    return alone


def _remainders(snapshot: Snapshot, mix: WorkloadMix) -> IntArray:
    """[N] milli on shared GPUs that are less than the smallest share of the mix; without a mix, all that is left there."""
    used = snapshot.occupancy
    shared = used.kind == DeviceKind.SHARE
    left = np.where(shared, MILLI_PER_GPU - used.milli.astype(np.int64), 0)
    smallest = min((task.milli for task, share in mix if task.gpus == 1 and share > 0), default=MILLI_PER_GPU)
    remainders: IntArray = np.where(left < smallest, left, 0).sum(axis=1)
    return remainders
