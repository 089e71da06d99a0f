"""Why a gang waits, worked out anew from the world it was tried on."""

from __future__ import annotations

from collections.abc import Callable

from scheduler.model.jobs import DeviceKind, JobShape, Role, Want
from scheduler.model.resources import MILLI_PER_GPU
from scheduler.model.verdict import Reason
from scheduler.oracle.devices import choices
from scheduler.oracle.gangs import Assignment, asking_less, first_models, model_assignments, without_topology
from scheduler.oracle.nodes import may_ever_take
from scheduler.oracle.world import OracleNode, OracleWorld


def impossible(job: JobShape, world: OracleWorld) -> Reason | None:
    """Why the gang can never run here, judged on every node listed with nobody on it."""
    empty = world.empty()
    if _misses_level(job, world) or any(not _has_any_node(job, role, empty) for role in job.roles):
        return Reason.NO_MATCHING_NODES
    if first_models(without_topology(job), empty) is None:
        return Reason.EXCEEDS_CLUSTER
    return Reason.TOPOLOGY_UNSATISFIED if first_models(job, empty) is None else None


def _misses_level(job: JobShape, world: OracleWorld) -> bool:
    required = job.topology.want == Want.REQUIRED and bool(job.topology.level)
    asked = job.topology.slice.level if job.topology.slice else ""
    return (required and job.topology.level not in world.levels) or bool(asked and asked not in world.levels)


def _has_any_node(job: JobShape, role: Role, empty: OracleWorld) -> bool:
    loose = without_topology(job)
    relaxed = next(r for r in loose.roles if r.name == role.name)
    return any(
        may_ever_take(job, role, node)
        and node.cpu >= role.cpu
        and node.memory >= role.memory
        and bool(choices(loose, relaxed, node))
        for node in empty.nodes
    )


def shortages(job: JobShape, world: OracleWorld) -> list[Reason]:
    """Every cause that is true of a gang that does not fit now, in order of precedence."""
    found = []
    if all(_lacks_gpus(job, world, models) for models in model_assignments(job, world)):
        found.append(Reason.INSUFFICIENT_GPUS)
    loose = without_topology(job)
    checks: tuple[tuple[Reason, Callable[[Role], int], Callable[[OracleNode], int], JobShape], ...] = (
        (Reason.INSUFFICIENT_CPU, lambda r: r.cpu, lambda n: n.cpu, asking_less(job, cpu=True)),
        (Reason.INSUFFICIENT_MEMORY, lambda r: r.memory, lambda n: n.memory, asking_less(job, memory=True)),
    )
    for reason, asked, free, less in checks:
        blocked = first_models(less, world) is not None
        if blocked or _too_little(job, world, asked, free):
            found.append(reason)
    return [*found, _scattered(loose, world)]


def _scattered(loose: JobShape, world: OracleWorld) -> Reason:
    """What keeps a gang out that has enough in all; where both its topology and its CPU do, CPU is the plainer."""
    if first_models(loose, world) is not None:
        return Reason.TOPOLOGY_UNSATISFIED
    for reason, cpu, memory in (
        (Reason.INSUFFICIENT_CPU, True, False),
        (Reason.INSUFFICIENT_MEMORY, False, True),
        (Reason.INSUFFICIENT_CPU, True, True),
    ):
        if first_models(asking_less(loose, cpu=cpu, memory=memory), world) is not None:
            return reason
    return Reason.FRAGMENTED


def _lacks_gpus(job: JobShape, world: OracleWorld, models: Assignment) -> bool:
    """With one model per role, some model's GPUs are fewer than the roles that use it ask for together."""
    return any(_lacks_model(job, world, models, name) for name in set(models.values()) if name)


def _lacks_model(job: JobShape, world: OracleWorld, models: Assignment, name: str) -> bool:
    roles = [role for role in job.roles if models[role.name] == name]
    wanted = sum(_parts(role) * role.min_workers for role in roles)
    there = sum(
        _free_milli(node)
        for node in world.nodes
        if node.is_usable
        and node.shape.model
        and node.shape.model.name == name
        and any(may_ever_take(without_topology(job), role, node) for role in roles)
    )
    return wanted > there


def _too_little(
    job: JobShape, world: OracleWorld, asked: Callable[[Role], int], free: Callable[[OracleNode], int]
) -> bool:
    """All workers together ask for more than the nodes that would do for any of them have free."""
    wanted = sum(asked(role) * role.min_workers for role in job.roles)
    there = sum(
        free(node)
        for node in world.nodes
        if node.is_usable
        and any(asked(role) and may_ever_take(without_topology(job), role, node) for role in job.roles)
    )
    return bool(wanted > there)


def _parts(role: Role) -> int:
    if role.devices.kind == DeviceKind.WHOLE:
        return role.devices.count * MILLI_PER_GPU
    return role.devices.milli if role.devices.kind == DeviceKind.SHARE else 0


def _free_milli(node: OracleNode) -> int:
    """Whole free GPUs, and what is left of those given in shares."""
    return len(node.free) * MILLI_PER_GPU + sum(node.shared.values())
