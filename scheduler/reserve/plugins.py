"""Reserve and Permit plugins of the default profile: the queue's quota, a NIC per worker, nobody missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from scheduler.framework import Gang
from scheduler.model.columns import positions
from scheduler.model.hardware import Nic, NodeShape
from scheduler.model.jobs import Want
from scheduler.model.plan import WorkerPlacement
from scheduler.model.snapshot import Snapshot
from scheduler.model.verdict import Reason, Verdict

if TYPE_CHECKING:
    from scheduler.world import World


@dataclass(frozen=True)
class QuotaCharge:
    """Counts the gang on its queue and every ancestor."""

    def reserve(self, world: World, gang: Gang) -> Gang | Verdict:
        self._charge(world, gang, 1)
        return gang

    def unreserve(self, world: World, gang: Gang) -> None:
        self._charge(world, gang, -1)

    def _charge(self, world: World, gang: Gang, sign: int) -> None:
        shape = gang.candidate.shape
        demand = world.quota.demand(shape, gang.models)
        world.quota.charge(gang.candidate.queue, demand, preemptible=shape.preemptible, sign=sign)


@dataclass(frozen=True)
class Nics:
    """Names each worker with GPUs one NIC, the nearest with fewest workers. Gangs of one get one only if they require it."""

    def reserve(self, world: World, gang: Gang) -> Gang | Verdict:
        shape = gang.candidate.shape
        if len(gang.workers) < 2 and shape.nic != Want.REQUIRED:
            return gang
        load = _load(world)
        named = tuple(self._name(world, worker, load) for worker in gang.workers)
        if shape.nic == Want.REQUIRED and any(worker.gpus and worker.nic < 0 for worker in named):
            self.unreserve(world, replace(gang, workers=named))
            return Verdict(Reason.TOPOLOGY_UNSATISFIED, level="nic")
        return replace(gang, workers=named)

    def unreserve(self, world: World, gang: Gang) -> None:
        load = _load(world)
        for worker in gang.workers:
            if worker.nic >= 0:
                load[worker.node, worker.nic] -= 1

    def _name(self, world: World, worker: WorkerPlacement, load: dict[tuple[int, int], int]) -> WorkerPlacement:
        if not worker.gpus:
            return worker
        shape = world.layout.shapes[world.layout.shape_of[world.row_of(worker.node)]]
        free = [
            (distance, load.get((worker.node, number), 0), number)
            for distance, number in nics_by_distance(shape, worker.gpus)
            if not (shape.nics[number].exclusive and load.get((worker.node, number), 0))
        ]
        if not free:
            return worker
        number = min(free)[2]
        load[worker.node, number] = load.get((worker.node, number), 0) + 1
        return replace(worker, nic=number)


@dataclass(frozen=True)
class WholeGang:
    """Nothing of a gang is ever partly placed."""

    def permit(self, world: World, gang: Gang) -> Verdict | None:
        wanted = sum(role.workers for role in gang.candidate.shape.roles)
        return None if len(gang.workers) == wanted else Verdict(Reason.FRAGMENTED)


@lru_cache(maxsize=65536)
def nics_by_distance(shape: NodeShape, gpus: int) -> tuple[tuple[int, int], ...]:
    """(distance, NIC): 0 on the PCIe switch of one of the GPUs, 1 in the NUMA node of one, 2 elsewhere."""
    mine = [gpu for gpu in range(shape.gpu_count) if gpus >> gpu & 1]
    switches, numas = {shape.switch[gpu] for gpu in mine}, {shape.numa[gpu] for gpu in mine}

    def distance(nic: Nic) -> int:
        return 0 if nic.switch in switches else 1 if nic.numa in numas else 2

    return tuple(sorted((distance(nic), number) for number, nic in enumerate(shape.nics)))


def _load(world: World) -> dict[tuple[int, int], int]:
    """Workers per (node key, NIC), the plan's own included."""
    load: dict[tuple[int, int], int] = world.notes.setdefault(
        "nic load", dict(world.snapshot.derived("nic load", _load_at_start))
    )
    return load


def _load_at_start(snapshot: Snapshot) -> dict[tuple[int, int], int]:
    workers = snapshot.workers
    named = workers.nic >= 0
    positions(snapshot.nodes.key, workers.node[named], "node")
    pairs, counts = np.unique(np.stack((workers.node[named], workers.nic[named])), axis=1, return_counts=True)
    return {(node, nic): count for (node, nic), count in zip(pairs.T.tolist(), counts.tolist(), strict=True)}
