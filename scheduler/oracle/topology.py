"""Where a gang stands: in which domains, and for gangs of one role on exactly which hosts with how many workers each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from scheduler.framework import UNLIMITED
from scheduler.model.jobs import DeviceKind, JobShape, Role, Want
from scheduler.model.plan import Unit
from scheduler.model.policy import PlacementPolicy
from scheduler.oracle.devices import choices
from scheduler.oracle.gangs import Assignment, domains, fits_on
from scheduler.oracle.nodes import fits, node_rank
from scheduler.oracle.world import OracleNode, OracleWorld

Nodes = list[OracleNode]
Counts = dict[str, int]
"""Workers by node name."""


def compactness_faults(job: JobShape, unit: Unit, world: OracleWorld, models: Assignment) -> Iterator[str]:
    """From the level asked for outward, the first at which one domain holds the gang is where it stands; then inward again."""
    used = {worker.node for worker in unit.workers}
    inside = world.nodes
    for level in reversed(world.levels[: _asked(job, world) + 1]):
        holding = [nodes for nodes in domains(world, level) if fits_on(job, nodes, models)]
        if holding:
            own = next((nodes for nodes in holding if used <= {node.key for node in nodes}), None)
            if own is None:
                yield f"is spread over several domains of {level}, though one would hold it"
                return
            inside = own
            break
        if job.topology.want == Want.REQUIRED and level == job.topology.level:
            yield f"is placed, though no {level} holds it"
    yield from _descent_faults(job, used, inside, world=world, models=models)


def _descent_faults(
    job: JobShape, used: set[int], inside: Nodes, *, world: OracleWorld, models: Assignment
) -> Iterator[str]:
    """Inside the domain it stands in, it stands in one subdomain if one holds it."""
    if inside is world.nodes:
        return
    for level in world.levels[_asked(job, world) + 1 :]:
        within = [[node for node in nodes if node in inside] for nodes in domains(world, level)]
        holding = [nodes for nodes in within if nodes and fits_on(job, nodes, models)]
        if holding and not any(used <= {node.key for node in nodes} for nodes in holding):
            yield f"is divided over several domains of {level}, though one in its domain would hold it"


def _asked(job: JobShape, world: OracleWorld) -> int:
    """Position of the level the gang asks for; the innermost where it asks for none."""
    return world.levels.index(job.topology.level if job.topology.level in world.levels else "host")


def count_faults(
    job: JobShape, unit: Unit, world: OracleWorld, *, models: Assignment, placement: PlacementPolicy
) -> Iterator[str]:
    """A gang of one role without slices: each host has exactly the workers that the rules name."""
    found = Counter(world.by_key(worker.node).name for worker in unit.workers)
    rules = _Division(job, job.roles[0], world, models[job.roles[0].name], placement)
    wanted = rules.seats(len(unit.workers))
    if wanted is not None and wanted != found:
        yield f"stands on {dict(found)}, the rules say {wanted}"


@dataclass(frozen=True)
class _Division:
    """How the workers of one role are divided over domains and hosts."""

    job: JobShape
    role: Role
    world: OracleWorld
    model: str
    placement: PlacementPolicy

    def seats(self, workers: int) -> Counts | None:
        """Workers by node; None where they do not fit."""
        required = self.job.topology.want == Want.REQUIRED and bool(self.job.topology.level)
        for position in range(_asked(self.job, self.world), -1, -1):
            holding = [
                nodes for nodes in self.groups(self.world.nodes, position, alone=False) if self.room(nodes) >= workers
            ]
            if holding and self.world.levels[position] == "host":
                return self.over_hosts([node for nodes in holding for node in nodes], workers)
            if holding:
                return self.over(min(holding, key=self.room), workers, position + 1)
            if required:
                return None
        return self.over(self.world.nodes, workers, 0) if self.room(self.world.nodes) >= workers else None

    def over(self, nodes: Nodes, workers: int, position: int) -> Counts:
        """Divide over domains of one level: one if one holds all, else the largest ones, and the tightest for the last part."""
        while self.world.levels[position] != "host" and not domains(self.world, self.world.levels[position]):
            position += 1
        if self.world.levels[position] == "host":
            return self.over_hosts(nodes, workers)
        groups = [group for group in self.groups(nodes, position, alone=True) if self.room(group)]
        groups.sort(key=self.room, reverse=True)
        found: Counts = {}
        while workers > self.room(groups[0]):
            first = groups.pop(0)
            found |= self.over(first, self.room(first), position + 1)
            workers -= self.room(first)
        holding = sorted(
            (group for group in groups if self.room(group) >= workers), key=lambda g: self.order(g, position)
        )
        return found | self.over(min(holding, key=self.room), workers, position + 1)

    def over_hosts(self, nodes: Nodes, workers: int) -> Counts:
        """The largest hosts full, the last part by the node rule."""
        able = [node for node in nodes if self.on_node(node)]
        able.sort(key=lambda node: (-self.on_node(node), self.rank(node, 1)))
        found: Counts = {}
        while workers > self.on_node(able[0]):
            first = able.pop(0)
            found[first.name] = self.on_node(first)
            workers -= self.on_node(first)
        best = min((node for node in able if self.on_node(node) >= workers), key=lambda node: self.rank(node, workers))
        return found | {best.name: workers}

    def groups(self, nodes: Nodes, position: int, *, alone: bool) -> list[Nodes]:
        """These nodes by domain of a level, in order of registration; `alone`: those in no domain come last, one by one."""
        level = self.world.levels[position]
        found = [[node for node in group if node in nodes] for group in domains(self.world, level)]
        loners = [[node] for node in nodes if level not in node.domains]
        return [group for group in [*found, *(loners if alone else [])] if group]

    def order(self, group: Nodes, position: int) -> tuple[bool, int]:
        """Place of a group among the groups of its level."""
        domain = group[0].domains.get(self.world.levels[position])
        return domain is None, group[0].order if domain is None else domain

    def room(self, nodes: Nodes) -> int:
        return sum(self.on_node(node) for node in nodes)

    def on_node(self, node: OracleNode) -> int:
        """Workers that fit on a node one after another."""
        return len(self.sequence(node)) if not self._is_bodiless() else UNLIMITED * bool(self.sequence(node))

    def _is_bodiless(self) -> bool:
        """Workers that take nothing fit anywhere without end."""
        role = self.role
        return role.devices.kind == DeviceKind.NONE and not role.cpu and not role.memory and not self.job.spread

    def sequence(self, node: OracleNode) -> list[tuple[int, tuple[object, ...]]]:
        """(link quality times -1, whole rank) of each worker in turn."""
        if self.model and (node.shape.model is None or node.shape.model.name != self.model):
            return []
        trial, job, found = node.copy(), self.job, list[tuple[int, tuple[object, ...]]]()
        while fits(job, self.role, trial):
            rank = node_rank(job, self.role, trial, self.placement)
            found.append((int(str(rank[3])), rank))
            trial.take(self.role, choices(job, self.role, trial)[0])
            job = replace(job, exclusive=False)
            if self.job.spread or self._is_bodiless():
                break
        return found

    def rank(self, node: OracleNode, workers: int) -> tuple[object, ...]:
        """The node rule for several workers at once: the links are as good as those of the worst of them."""
        sequence = self.sequence(node)[: max(1, workers)]
        first = sequence[0][1]
        return *first[:3], max(links for links, _ in sequence), *first[4:]
