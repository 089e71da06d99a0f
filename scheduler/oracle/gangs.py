"""Whether a whole gang fits, by trying every way of putting its workers on nodes. Exponential: a handful of nodes and workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from scheduler.model.hardware import GpuModel
from scheduler.model.jobs import DeviceKind, JobShape, Role, Want
from scheduler.oracle.devices import choices
from scheduler.oracle.nodes import fits, matches_needs, named
from scheduler.oracle.world import OracleNode, OracleWorld

Assignment = dict[str, str]
"""Role name to the name of the one GPU model it uses."""


def size_order(job: JobShape) -> list[Role]:
    """Roles by the size of their workers, the largest first."""
    return sorted(job.roles, key=lambda role: (-role.devices.count, -role.devices.milli, -role.cpu, -role.memory))


def model_orders(role: Role, world: OracleWorld) -> list[GpuModel | None]:
    """Models a role may use, in the order they are tried: as named, else least capable first, equals as registered."""
    if role.devices.kind == DeviceKind.NONE:
        return [None]
    models = [node.shape.model for node in sorted(world.nodes, key=lambda node: node.order)]
    found = dict.fromkeys(model for model in models if model and matches_needs(role, model))

    def rank(model: GpuModel) -> tuple[object, ...]:
        named_at = next((i for i, want in enumerate(role.gpu.models) if named(want, model.name)), 0)
        return named_at, model.compute_capability, model.memory

    return [*sorted(found, key=rank)]


def model_assignments(job: JobShape, world: OracleWorld) -> Iterator[Assignment]:
    """One model per role, in the order in which they are tried: the largest workers' first choice varies last."""
    roles = size_order(job)
    for models in product(*(model_orders(role, world) for role in roles)):
        yield {role.name: model.name if model else "" for role, model in zip(roles, models, strict=True)}


def fits_on(job: JobShape, nodes: Iterable[OracleNode], models: Assignment) -> bool:
    """The whole gang can be put on these nodes with these models, whatever its topology asks for beyond slices."""
    workers = [(role, index) for role in size_order(job) for index in range(role.min_workers)]
    return _Search(job, models).put(list(nodes), workers, {})


Placed = dict[tuple[str, int], OracleNode]
"""(Role name, index) to the node of each worker placed so far."""


@dataclass(frozen=True)
class _Search:
    """Every way of putting one gang, with given models, on some nodes."""

    job: JobShape
    models: Assignment

    def put(self, nodes: list[OracleNode], workers: list[tuple[Role, int]], placed: Placed) -> bool:
        """The first of `workers` finds a place, and after it all the others."""
        if not workers:
            return True
        (role, index), rest = workers[0], workers[1:]
        for position, node in enumerate(nodes):
            if not self.allows(role, index, node, placed):
                continue
            for gpus in self.worthwhile(role, node):
                after = node.copy()
                after.take(role, gpus)
                trial = [*nodes[:position], after, *nodes[position + 1 :]]
                if self.put(trial, rest, {**placed, (role.name, index): after}):
                    return True
        return False

    def worthwhile(self, role: Role, node: OracleNode) -> list[tuple[int, ...]]:
        """Where links are required, which set is taken decides what is left for the next worker; else any will do."""
        job = self.job
        required = any(r.gpu.nvlink == Want.REQUIRED for r in job.roles) or job.nic == Want.REQUIRED
        required = required or bool(job.locality and job.locality.want == Want.REQUIRED)
        found = choices(job, role, node)
        return found if required or role.devices.kind == DeviceKind.SHARE else found[:1]

    def allows(self, role: Role, index: int, node: OracleNode, placed: Placed) -> bool:
        """The node can take this worker beside those placed before it."""
        job, model = self.job, node.shape.model
        if role.devices.kind != DeviceKind.NONE and (model is None or model.name != self.models[role.name]):
            return False
        mine = [key for key, other in placed.items() if other.order == node.order]
        tried = replace(job, exclusive=False) if mine else job  # on an exclusive node, one's own workers do not disturb
        if not fits(tried, role, node) or (job.spread and mine):
            return False
        if any(name == role.apart for name, _ in mine):
            return False
        if any(other.apart == role.name for other in job.roles for name, _ in mine if name == other.name):
            return False
        return self.slice_allows(role, index, node, placed)

    def slice_allows(self, role: Role, index: int, node: OracleNode, placed: Placed) -> bool:
        """Workers of one run of ranks stand in one domain of the slice's level; ranks run on from role to role."""
        asked = self.job.topology.slice
        if asked is None:
            return True
        if asked.level not in node.domains:
            return False
        first = self.first_ranks()
        if role.name not in first:
            return True
        run = (first[role.name] + index) // asked.workers
        peers = [n for (name, i), n in placed.items() if name in first and (first[name] + i) // asked.workers == run]
        return all(peer.domains.get(asked.level) == node.domains[asked.level] for peer in peers)

    def first_ranks(self) -> dict[str, int]:
        """Rank of the first worker of each role that has ranks: roles with GPUs, or all where none has any."""
        ranked = [role for role in self.job.roles if role.devices.kind != DeviceKind.NONE] or list(self.job.roles)
        return {role.name: sum(r.min_workers for r in ranked[:number]) for number, role in enumerate(ranked)}


def domains(world: OracleWorld, level: str) -> list[list[OracleNode]]:
    """The nodes of each domain of a level, domains in order of registration."""
    found: dict[int, list[OracleNode]] = {}
    for node in world.nodes:
        if level in node.domains:
            found.setdefault(node.domains[level], []).append(node)
    return [found[number] for number in sorted(found)]


def places(job: JobShape, world: OracleWorld) -> list[list[OracleNode]]:
    """The sets of nodes in any one of which the whole gang must stand."""
    if job.topology.want == Want.REQUIRED and job.topology.level:
        return domains(world, job.topology.level)
    return [world.nodes]


def first_models(job: JobShape, world: OracleWorld) -> Assignment | None:
    """The first assignment of models with which the gang fits as it requires; None where it fits with none."""
    for models in model_assignments(job, world):
        if any(fits_on(job, nodes, models) for nodes in places(job, world)):
            return models
    return None


def without_topology(job: JobShape) -> JobShape:
    """The same gang asking for nothing of topology, links and spread."""
    roles = tuple(replace(role, gpu=replace(role.gpu, nvlink=Want.ANY), near="", apart="") for role in job.roles)
    topology = replace(job.topology, level="", want=Want.PREFERRED, slice=None)
    return replace(job, roles=roles, topology=topology, locality=None, nic=Want.ANY, spread=False)


def asking_less(job: JobShape, *, cpu: bool = False, memory: bool = False) -> JobShape:
    """The same gang asking for no CPU, or no memory."""
    roles = tuple(replace(role, cpu=0 if cpu else role.cpu, memory=0 if memory else role.memory) for role in job.roles)
    return replace(job, roles=roles)
