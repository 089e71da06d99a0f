"""Synthetic worlds for the benchmarks of the core: nodes of eight GPUs, half of them in use, and jobs of mixed shapes."""

from __future__ import annotations

import numpy as np

from scheduler.model.catalogue import SHAPES
from scheduler.model.columns import MaskArray, objects
from scheduler.model.jobs import (
    NO_NODES,
    DeviceKind,
    Devices,
    JobShape,
    Role,
    RunningJobs,
    TopologyNeeds,
    WaitingJobs,
    Want,
    Workers,
)
from scheduler.model.nodes import Nodes
from scheduler.model.queues import NO_PARENT, Queue
from scheduler.model.resources import PARTS_PER_GPU
from scheduler.model.snapshot import Snapshot

NODES_PER_RACK, RACKS_PER_BLOCK = 16, 8
CORE, GIB = 1_000, 2**30
MIXED = ("dgx-h100", "dgx-a100", "a100-pcie-bridged", "l40s-pcie8")
FOREVER = float("inf")


def make_nodes(count: int, taken: MaskArray | None = None, shapes: tuple[str, ...] = MIXED) -> Nodes:
    """`count` nodes in racks and blocks, of several shapes, with GPUs taken by pods of others."""
    wired = [SHAPES[shapes[number // NODES_PER_RACK % len(shapes)]] for number in range(count)]
    rack = np.arange(count) // NODES_PER_RACK
    return Nodes(
        key=np.arange(1, count + 1),
        name=objects(f"n{number}" for number in range(count)),
        shape=objects(wired),
        cpu=np.array([shape.cpu for shape in wired]),
        memory=np.array([shape.memory for shape in wired]),
        domains=np.stack((rack // RACKS_PER_BLOCK, rack), axis=1),
        nvlink_domain=np.full(count, -1),
        labels=objects([(("zone", "a"),)] * count),
        taints=objects([()] * count),
        ready=np.arange(count) % 97 != 0,
        cordoned=np.arange(count) % 101 == 0,
        unhealthy=np.where(np.arange(count) % 61 == 0, 1, 0).astype(np.uint32),
        others_gpus=np.zeros(count, dtype=np.uint32) if taken is None else taken,
        others_cpu=np.full(count, 2 * CORE),
        others_memory=np.full(count, 8 * GIB),
        replicas=np.ones(count, dtype=np.int64),
        exact=np.ones(count, dtype=np.bool_),
        images=objects([frozenset()] * count),
    )


def half_full(count: int, seed: int = 0) -> MaskArray:
    """Per node a random half of its GPUs, some nodes empty, some full."""
    rng = np.random.default_rng(seed)
    masks = rng.integers(0, 256, count).astype(np.uint32)
    whole = rng.random(count)
    masks[whole < 0.25] = 0
    masks[whole > 0.75] = 255
    return masks


def job(gpus: int = 1, workers: int = 1, *, topology: TopologyNeeds = TopologyNeeds(), cores: int = 4) -> JobShape:
    """A gang whose workers also ask for CPU, memory and a label, so that every filter has something to do."""
    role = Role(
        workers=workers,
        min_workers=workers,
        cpu=cores * CORE,
        memory=16 * GIB,
        devices=Devices(DeviceKind.WHOLE, gpus) if gpus else Devices(),
    )
    return JobShape(roles=(role,), topology=topology, selector=(("zone", "a"),))


def fifty_shapes() -> list[JobShape]:
    """Fifty different shapes: 1, 2, 4 and 8 GPUs, one to sixteen workers, with and without a rack."""
    rack = TopologyNeeds("rack", Want.REQUIRED)
    sizes = [(g, w, t) for g in (1, 2, 4, 8) for w in (1, 2, 4, 8, 12, 16) for t in (TopologyNeeds(), rack)]
    return [job(g, w, topology=t) for g, w, t in sizes] + [job(0, 1, cores=16), job(1, 1, cores=30)]


def waiting(shapes: list[JobShape], queues: int = 1) -> WaitingJobs:
    """One waiting job per entry, submitted one after another, in `queues` queues in turn."""
    count = len(shapes)
    return WaitingJobs(
        key=np.arange(1, count + 1),
        name=objects(f"j{number}" for number in range(count)),
        queue=np.arange(count) % queues + 1,
        shape=objects(shapes),
        priority=np.full(count, 50),
        submitted=np.arange(count, dtype=np.float64),
        not_before=np.zeros(count),
        held=np.zeros(count, dtype=np.bool_),
        unmet=np.zeros(count, dtype=np.bool_),
        incomplete=np.zeros(count, dtype=np.bool_),
        walltime=np.full(count, FOREVER),
        avoid=objects([NO_NODES] * count),
    )


def nobody() -> tuple[RunningJobs, Workers]:
    """Nothing runs."""
    none, floats = np.zeros(0, dtype=np.int64), np.zeros(0)
    names = ("submitted", "started", "walltime", "min_runtime", "saved", "protected_until")
    running = RunningJobs(
        key=none,
        name=objects([]),
        queue=none,
        shape=objects([]),
        priority=none,
        state=none,
        **dict.fromkeys(names, floats),
    )
    columns = dict.fromkeys(("key", "job", "role", "index", "node", "mig_start", "nic"), none)
    return running, Workers(gpus=np.zeros(0, dtype=np.uint32), **columns)


def world(nodes: Nodes, shapes: list[JobShape], queues: tuple[Queue, ...] = (Queue(1, "q"),)) -> Snapshot:
    """A snapshot with these jobs waiting; what load does once is done already."""
    running, workers = nobody()
    leaves = sum(1 for queue in queues if queue.parent != NO_PARENT or len(queues) == 1)
    snapshot = Snapshot(("block", "rack"), nodes, queues, waiting(shapes, leaves), running, workers)
    assert snapshot.occupancy is not None
    return snapshot


def four_queues(nodes: int) -> tuple[Queue, ...]:
    """Two departments of two queues with equal guarantees. Leaves have the lowest keys."""
    share = {"gpu": nodes * 2 * PARTS_PER_GPU}
    leaves = tuple(Queue(key, f"q{key}", parent=5 + key % 2, guaranteed=share) for key in (1, 2, 3, 4))
    return (*leaves, Queue(5, "d5"), Queue(6, "d6"))
