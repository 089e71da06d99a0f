"""Why a gang that was tried found no place, the plainest cause first; and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scheduler.framework import Ask, Candidate
from scheduler.model.columns import BoolArray
from scheduler.model.jobs import DeviceKind, JobShape
from scheduler.model.occupancy import NOBODY
from scheduler.model.resources import MILLI_PER_GPU, PARTS_PER_GPU, PARTS_PER_MILLI
from scheduler.model.verdict import Cause, Help, Reason, Verdict
from scheduler.place.funnel import funnel, nodes_out
from scheduler.place.gang import Models, avoided
from scheduler.place.mig import instance_named
from scheduler.place.possible import fits, relaxed
from scheduler.place.share import BITS
from scheduler.reserve.quota import gpu_parts, largest_first
from scheduler.world import World

_SHORT = {Cause.CPU: Reason.INSUFFICIENT_CPU, Cause.MEMORY: Reason.INSUFFICIENT_MEMORY}
_LESS = ((Cause.CPU,), (Cause.MEMORY,), (Cause.CPU, Cause.MEMORY))


def diagnose(world: World, candidate: Candidate, choices: Sequence[Models]) -> Verdict:
    """The verdict for a gang that fits with none of these choices of models."""
    avoid = avoided(world, candidate)
    probe = replace(candidate, avoid=avoid)
    verdict = (
        _short_of_gpus(world, probe, choices)
        or _short_in_all(world, probe, choices)
        or (_short_on_each(world, probe, choices) if _binds(world, probe, choices) else None)
        or _badly_placed(world, probe, choices)
    )
    out = nodes_out(world, probe, choices)
    helps = (*verdict.help, Help("nodes", out)) if out else verdict.help
    return replace(verdict, funnel=funnel(world, probe, choices), help=helps)


def _short_of_gpus(world: World, candidate: Candidate, choices: Sequence[Models]) -> Verdict | None:
    """Too few free GPUs of the right kind in all, whichever models are chosen."""
    shape, best = candidate.shape, (-1, 0)
    if all(role.devices.kind == DeviceKind.NONE for role in shape.roles):
        return None
    for models in choices:
        asks = world.asks(shape, models, candidate.avoid)
        missing = [_missing_parts(world, group) for group in _drawing_together(asks)]
        if all(short <= 0 for short, _ in missing):
            return None
        short = max(missing)
        best = short if best[0] < 0 else min(best, short)
    if not choices:
        return None
    role = next(role.name for role in shape.roles if role.devices.kind != DeviceKind.NONE)
    return Verdict(
        Reason.INSUFFICIENT_GPUS, role=role, asked=best[0] + best[1], free=best[1], help=(Help("gpus", best[0]),)
    )


def _drawing_together(asks: Sequence[Ask]) -> list[list[Ask]]:
    """Roles that draw on the same free GPUs: whole ones of a model, parts of them, and then both (parts first: what is left of
    shared GPUs is theirs too)."""
    groups = []
    for model in dict.fromkeys(ask.model for ask in asks if ask.model is not None):
        mine = [ask for ask in asks if ask.model == model]
        whole = [ask for ask in mine if ask.role.devices.kind == DeviceKind.WHOLE]
        parts = [ask for ask in mine if ask.role.devices.kind != DeviceKind.WHOLE]
        groups += [whole, parts, parts + whole] if whole and parts else [mine]
    return groups


def _missing_parts(world: World, asks: Sequence[Ask]) -> tuple[int, int]:
    """(parts missing, parts free) on the nodes open to these roles, which want GPUs of one model."""
    rows = np.zeros(len(world.layout.nodes), dtype=np.bool_)
    wanted = 0
    for ask in asks:
        model = ask.model
        if model is None:
            continue
        rows |= _could_take(world, ask)
        wanted += gpu_parts(world.layout, ask.role, model) * ask.role.workers
    free = _free_parts(world, asks[0], rows)
    return wanted - free, free


def _could_take(world: World, ask: Ask) -> BoolArray:
    """Nodes open to the role, whatever domain they stand in: what is free is counted with topology left aside."""
    topology = ask.shape.topology
    if not topology.level and topology.slice is None:
        return world.fixed_mask(ask)
    return world.mask_of(ask, Cause.LEVEL)


def _free_parts(world: World, ask: Ask, mask: BoolArray) -> int:
    """Free GPU parts that work of this kind could use: whole GPUs, or also what is left of GPUs shared in the same way."""
    used, kind = world.ledger.used, ask.role.devices.kind
    rows = np.flatnonzero(mask & (used.owner == NOBODY))
    whole = int(np.bitwise_count(used.free[rows]).sum()) * PARTS_PER_GPU
    if kind == DeviceKind.WHOLE:
        return whole
    healthy = (world.layout.healthy_gpus[rows][:, None] >> BITS & 1).astype(np.bool_)
    mine = (used.kind[rows] == kind) & healthy
    if kind == DeviceKind.SHARE:
        return whole + int((MILLI_PER_GPU - used.milli[rows])[mine].sum()) * PARTS_PER_MILLI
    if kind == DeviceKind.MIG:
        slices = instance_named(ask).total_compute
        return whole + int((slices - used.compute[rows].astype(np.int64))[mine].sum()) * (PARTS_PER_GPU // slices)
    replicas = np.broadcast_to(world.layout.nodes.replicas[rows][:, None], mine.shape)
    left = np.where(mine, replicas - used.milli[rows], 0).sum()
    return whole + int(left) * gpu_parts(world.layout, ask.role, ask.model) if ask.model else whole


def _short_in_all(world: World, candidate: Candidate, choices: Sequence[Models]) -> Verdict | None:
    """Too little CPU or memory on all nodes together."""
    for cause, reason in _SHORT.items():
        wanted = _wanted(candidate.shape, cause)
        free = (
            max((_free_amount(world, candidate, models, str(cause)) for models in choices), default=0) if wanted else 0
        )
        if wanted > free:
            return Verdict(reason, asked=wanted, free=free, help=(Help(str(cause), wanted - free),))
    return None


def _short_on_each(world: World, candidate: Candidate, choices: Sequence[Models]) -> Verdict | None:
    """Enough in all, too little on each node: it would fit if it asked for no CPU, or no memory, or neither."""
    for causes in _LESS:
        wanted = _wanted(candidate.shape, causes[0])
        if wanted and fits(world, _without(candidate.shape, *causes), candidate.avoid, choices):
            return Verdict(_SHORT[causes[0]], asked=wanted)
    return None


def _binds(world: World, candidate: Candidate, choices: Sequence[Models]) -> bool:
    """Whether any node would take more workers of a role that asked for no CPU and no memory; if not, asking less is no help."""
    asks = {ask for models in choices for ask in world.asks(candidate.shape, models, candidate.avoid)}
    return any(world.view(ask).is_bound_by(Cause.CPU, Cause.MEMORY) for ask in asks)


def _free_amount(world: World, candidate: Candidate, models: Models, what: str) -> int:
    rows = np.zeros(len(world.layout.nodes), dtype=np.bool_)
    for ask in world.asks(candidate.shape, models, candidate.avoid):
        if getattr(ask.role, what):
            rows |= _could_take(world, ask)
    rows &= world.ledger.used.owner == NOBODY
    return int(np.maximum(getattr(world.ledger.used, what)[rows], 0).sum())


def _badly_placed(world: World, candidate: Candidate, choices: Sequence[Models]) -> Verdict:
    """Enough in all: not near enough to each other, or in pieces too small for a worker."""
    shape = candidate.shape
    topology, anywhere = shape.topology, relaxed(shape)
    if fits(world, anywhere, candidate.avoid, choices):
        level = topology.slice.level if topology.slice else topology.level
        wanted, found = _in_one_domain(world, candidate, choices, level)
        helps = (Help("relax", of=level or "links"),)
        return Verdict(Reason.TOPOLOGY_UNSATISFIED, level=level, asked=wanted, free=found, help=helps)
    for causes in _LESS:
        if fits(world, _without(anywhere, *causes), candidate.avoid, choices):
            return Verdict(_SHORT[causes[0]], asked=_wanted(shape, causes[0]))
    wanted, found = _on_one_node(world, candidate, choices)
    role = shape.roles[largest_first(shape)[0]].name
    return Verdict(Reason.FRAGMENTED, role=role, asked=wanted, free=found, help=(Help("consolidate"),))


def _in_one_domain(world: World, candidate: Candidate, choices: Sequence[Models], level: str) -> tuple[int, int]:
    """(workers that must be together, most that any one domain has room for), for gangs of one role."""
    shape = candidate.shape
    if level not in world.layout.levels or len(shape.roles) > 1:
        return 0, 0
    number = world.layout.levels.index(level)
    views = [world.view(world.asks(shape, models, candidate.avoid)[0]) for models in choices]
    run = shape.topology.slice
    wanted = min(run.workers, shape.roles[0].workers) if run else shape.roles[0].workers
    return wanted, max((int(view.room_in(number).max(initial=0)) for view in views), default=0)


def _on_one_node(world: World, candidate: Candidate, choices: Sequence[Models]) -> tuple[int, int]:
    """(GPU parts that one worker of the largest role needs, most wholly free ones on any node open to it)."""
    position = largest_first(candidate.shape)[0]
    asks = {world.asks(candidate.shape, models, candidate.avoid)[position] for models in choices}
    wanted, found = 0, 0
    for ask in asks:
        if ask.model is None:
            continue
        wanted = gpu_parts(world.layout, ask.role, ask.model)
        free = np.bitwise_count(world.ledger.used.free[world.fixed_mask(ask)])
        found = max(found, int(free.max(initial=0)) * PARTS_PER_GPU)
    return wanted, found


def _wanted(shape: JobShape, cause: Cause) -> int:
    """Millicores or bytes of the whole gang."""
    return sum(int(getattr(role, cause)) * role.workers for role in shape.roles)


def _without(shape: JobShape, *what: str) -> JobShape:
    none: dict[str, Any] = dict.fromkeys(what, 0)
    return replace(shape, roles=tuple(replace(role, **none) for role in shape.roles))
