"""Hold a plan against the rules: replays it unit by unit on a slow world and tells, in sentences, what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from scheduler.model.jobs import DeviceKind, JobShape, Role
from scheduler.model.plan import Plan, Unit, WorkerPlacement
from scheduler.model.policy import PlacementPolicy, Policy
from scheduler.model.snapshot import Snapshot
from scheduler.model.verdict import Reason
from scheduler.oracle.devices import choices
from scheduler.oracle.gangs import first_models
from scheduler.oracle.nodes import fits, node_rank
from scheduler.oracle.reasons import impossible, shortages
from scheduler.oracle.topology import compactness_faults, count_faults
from scheduler.oracle.world import OracleNode, OracleWorld, world_of

KNOWN_BEFORE_NODES = {
    Reason.HELD,
    Reason.DEPENDENCY,
    Reason.WAITING_FOR_MEMBERS,
    Reason.BACKOFF,
    Reason.QUOTA_EXCEEDED,
    Reason.GUARANTEE_EXCEEDED,
    Reason.BORROW_LIMIT,
    Reason.BEHIND_HEAD,
}


def faults(snapshot: Snapshot, policy: Policy, plan: Plan) -> list[str]:
    """Everything that is wrong with the plan; an empty list is a right one. Quota is held elsewhere (it needs no nodes)."""
    return [*_unit_faults(snapshot, policy, plan), *_verdict_faults(snapshot, plan)]


def _unit_faults(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[str]:
    world = world_of(snapshot)
    shapes = dict(zip(snapshot.waiting.key.tolist(), snapshot.waiting.shape, strict=True))
    for unit in plan.units:
        shape = shapes[unit.job]
        yield from (f"job {unit.job}: {fault}" for fault in _gang_faults(shape, unit, world, policy))
        world.book_unit(shape, unit)


def _gang_faults(job: JobShape, unit: Unit, world: OracleWorld, policy: Policy) -> Iterator[str]:
    for role in job.roles:
        count = sum(worker.role == role.name for worker in unit.workers)
        if count < role.min_workers:
            yield f"role {role.name} has {count} of {role.min_workers} workers"
    yield from _worker_faults(job, unit, world)
    models = first_models(job, world)
    if models is None:
        yield "is placed, though no way of placing it was found"
        return
    for worker in unit.workers:
        node = world.by_key(worker.node)
        if worker.kind != DeviceKind.NONE and node.shape.model and node.shape.model.name != models[worker.role]:
            yield f"{worker.name} has {node.shape.model.name}, {models[worker.role]} comes first and fits"
    yield from _topology_faults(job, unit, world, policy=policy, models=models)
    if len(unit.workers) == 1:
        yield from _single_faults(job, unit.workers[0], world, policy=policy, models=models)


def _worker_faults(job: JobShape, unit: Unit, world: OracleWorld) -> Iterator[str]:
    """Every worker's devices are free, right and enough, one after another."""
    trial = world.copy()
    for worker in unit.workers:
        node, role = trial.by_key(worker.node), _role(job, worker)
        alone = replace(job, exclusive=job.exclusive and not _has_own(unit, worker, node))
        if not fits(alone, role, node):
            yield f"{worker.name} does not fit on {node.name}"
        elif worker.gpu_indices not in choices(job, role, node):
            yield f"{worker.name} has GPUs {worker.gpu_indices} of {node.name}, which it may not have"
        node.take(role, worker.gpu_indices)


def _has_own(unit: Unit, worker: WorkerPlacement, node: OracleNode) -> bool:
    before = unit.workers[: unit.workers.index(worker)]
    return any(other.node == node.key for other in before)


def _role(job: JobShape, worker: WorkerPlacement) -> Role:
    return next(role for role in job.roles if role.name == worker.role)


def _topology_faults(
    job: JobShape, unit: Unit, world: OracleWorld, *, policy: Policy, models: dict[str, str]
) -> Iterator[str]:
    """Growth came after other gangs: only what started at its minimum stands where the rules alone say."""
    if len(unit.workers) > sum(role.min_workers for role in job.roles):
        return
    if len(job.roles) > 1 or job.topology.slice is not None or policy.placement == PlacementPolicy.FRAGMENTATION:
        yield from compactness_faults(job, unit, world, models)
    else:
        yield from count_faults(job, unit, world, models=models, placement=policy.placement)


def _single_faults(
    job: JobShape, worker: WorkerPlacement, world: OracleWorld, *, policy: Policy, models: dict[str, str]
) -> Iterator[str]:
    """A single worker's node and devices are exactly those the rules name."""
    role = job.roles[0]
    able = [node for node in world.nodes if fits(job, role, node) and _is_model(node, models[role.name])]
    if policy.placement == PlacementPolicy.FRAGMENTATION or job.topology.level not in ("", "host"):
        return
    best = min(able, key=lambda node: node_rank(job, role, node, policy.placement))
    if best.key != worker.node:
        yield f"stands on {world.by_key(worker.node).name}, the node rule says {best.name}"
    elif worker.gpu_indices != choices(job, role, best)[0]:
        yield f"has GPUs {worker.gpu_indices} of {best.name}, the device rule says {choices(job, role, best)[0]}"


def _is_model(node: OracleNode, name: str) -> bool:
    return not name or (node.shape.model is not None and node.shape.model.name == name)


def _verdict_faults(snapshot: Snapshot, plan: Plan) -> Iterator[str]:
    """Who waits does not fit, and the reason given is the plainest that was true when it was tried.

    Within one cycle without stops, room only shrinks: what did not fit when it was tried does not fit at the end either. When
    that was is not known here, so a reason that was the plainest after any number of units will do.
    """
    waiting = snapshot.waiting
    shapes = dict(zip(waiting.key.tolist(), waiting.shape, strict=True))
    worlds = [world_of(snapshot)]
    for unit in plan.units:
        worlds.append(worlds[-1].copy())
        worlds[-1].book_unit(shapes[unit.job], unit)
    for row in range(len(waiting)):
        number = int(plan.verdict_of[row])
        if number >= 0:
            fault = _verdict_fault(waiting.shape[row], plan.verdicts[number].reason, worlds)
            if fault:
                yield f"job {int(waiting.key[row])}: {fault}"
        elif not any(unit.job == int(waiting.key[row]) for unit in plan.units):
            yield f"job {int(waiting.key[row])}: neither starts nor has a verdict"


def _verdict_fault(job: JobShape, reason: Reason, worlds: list[OracleWorld]) -> str | None:
    if reason in KNOWN_BEFORE_NODES:
        return None
    never = impossible(job, worlds[0])
    if never in (Reason.NO_MATCHING_NODES, Reason.EXCEEDS_CLUSTER):
        return None if reason == never else f"waits for {reason}, can never run: {never}"
    if first_models(job, worlds[-1]) is not None:
        return f"waits for {reason}, though it fits"
    true = {shortages(job, world)[0] for world in worlds if first_models(job, world) is None}
    if never:
        true.add(never)
    if job.exclusive or any(node.is_closed for node in worlds[-1].nodes):
        # GPUs that lie idle beside a job that takes whole nodes may be called free or not.
        true |= {Reason.INSUFFICIENT_GPUS, Reason.FRAGMENTED}
    return None if reason in true else f"waits for {reason}, the plainest true cause is {sorted(true)}"
