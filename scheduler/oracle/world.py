"""A snapshot as plain objects that may be changed: what is free on each node, one GPU at a time."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace

import numpy as np

from scheduler.model.hardware import NodeShape, gpus_of
from scheduler.model.jobs import DeviceKind, JobShape, Role
from scheduler.model.nodes import Taint
from scheduler.model.plan import Unit, WorkerPlacement
from scheduler.model.resources import MILLI_PER_GPU
from scheduler.model.snapshot import Snapshot


@dataclass
class OracleNode:
    """One node. `free` holds GPUs that nobody has any part of; `shared` maps a GPU given in shares to the milli left."""

    order: int
    key: int
    name: str
    shape: NodeShape
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    is_usable: bool
    domains: dict[str, int]
    """Level to domain number; a level in which the node stands in no domain is missing."""
    gpus: set[int]
    """Healthy and ours to give, whoever has them now."""
    free: set[int]
    shared: dict[int, int] = field(default_factory=dict)
    cpu: int = 0
    memory: int = 0
    cpu_all: int = 0
    memory_all: int = 0
    workers: int = 0
    has_others: bool = False
    """Pods that are not ours hold GPUs of it."""
    is_closed: bool = False
    """A job that takes whole nodes is on it."""

    def copy(self) -> OracleNode:
        """A node that may be tried things on."""
        return replace(self, free=set(self.free), shared=dict(self.shared))

    def take(self, role: Role, gpus: tuple[int, ...]) -> None:
        """Book one worker of this role on these GPUs."""
        kind = role.devices.kind
        if kind == DeviceKind.WHOLE:
            self.free -= set(gpus)
        elif kind == DeviceKind.SHARE:
            (gpu,) = gpus
            assert self.shape.model is not None
            left = self.shared.get(gpu, MILLI_PER_GPU) - role.devices.milli_on(self.shape.model)
            self.shared[gpu] = left
            self.free.discard(gpu)
        self.cpu -= role.cpu
        self.memory -= role.memory
        self.workers += 1


@dataclass
class OracleWorld:
    """All nodes, in order of registration, and the levels innermost last (nvlink_domain and host included)."""

    levels: tuple[str, ...]
    nodes: list[OracleNode]

    def copy(self) -> OracleWorld:
        """A world that may be tried things on."""
        return copy.deepcopy(self)

    def empty(self) -> OracleWorld:
        """The same cluster with nobody on it, every node ready and every GPU sound: what can ever run is judged on it."""
        world = self.copy()
        for node in world.nodes:
            node.is_usable, node.is_closed, node.has_others = True, False, False
            node.workers, node.shared = 0, {}
            node.gpus = set(range(node.shape.gpu_count))
            node.free = set(node.gpus)
            node.cpu, node.memory = node.cpu_all, node.memory_all
        return world

    def by_key(self, key: int) -> OracleNode:
        """The node of that key."""
        return next(node for node in self.nodes if node.key == key)

    def book(self, shape: JobShape, worker: WorkerPlacement) -> None:
        """Book a worker of a plan."""
        role = next(role for role in shape.roles if role.name == worker.role)
        self.by_key(worker.node).take(role, worker.gpu_indices)

    def book_unit(self, shape: JobShape, unit: Unit) -> None:
        """Book a whole gang of a plan."""
        for worker in unit.workers:
            self.book(shape, worker)
        if shape.exclusive:
            self.close({worker.node for worker in unit.workers})

    def close(self, keys: set[int]) -> None:
        """Nobody else may come to these nodes."""
        for node in self.nodes:
            if node.key in keys:
                node.is_closed, node.free, node.cpu, node.memory = True, set(), 0, 0


def world_of(snapshot: Snapshot) -> OracleWorld:
    """Build the world from a snapshot's tables, row by row."""
    levels = snapshot.layout.levels
    world = OracleWorld(levels, [_node(snapshot, row) for row in range(len(snapshot.nodes))])
    shapes = dict(zip(snapshot.running.key.tolist(), snapshot.running.shape, strict=True))
    workers = snapshot.workers
    for row in range(len(workers)):
        role = shapes[int(workers.job[row])].roles[int(workers.role[row])]
        world.by_key(int(workers.node[row])).take(role, gpus_of(int(workers.gpus[row])))
    for row in range(len(workers)):
        if shapes[int(workers.job[row])].exclusive:
            world.close({int(workers.node[row])})
    return world


def _node(snapshot: Snapshot, row: int) -> OracleNode:
    nodes, layout = snapshot.nodes, snapshot.layout
    shape: NodeShape = nodes.shape[row]
    barred = int(nodes.unhealthy[row]) | int(nodes.others_gpus[row])
    ours = {gpu for gpu in range(shape.gpu_count) if not barred >> gpu & 1}
    domains = {level: int(layout.domain_of[i, row]) for i, level in enumerate(layout.levels)}
    return OracleNode(
        order=row,
        key=int(nodes.key[row]),
        name=str(nodes.name[row]),
        shape=shape,
        labels=dict(nodes.labels[row]),
        taints=nodes.taints[row],
        is_usable=bool(nodes.ready[row] and not nodes.cordoned[row]),
        domains={level: domain for level, domain in domains.items() if domain >= 0},
        gpus=ours,
        free=set(ours),
        cpu=int(nodes.cpu[row] - nodes.others_cpu[row]),
        memory=int(nodes.memory[row] - nodes.others_memory[row]),
        has_others=bool(nodes.others_gpus[row]),
        cpu_all=int(nodes.cpu[row]),
        memory_all=int(nodes.memory[row]),
    )


def rng() -> np.random.Generator:
    """The generator that tests hand to plan()."""
    return np.random.default_rng(0)
