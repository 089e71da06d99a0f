"""Whether a shape could ever run: judged on all nodes, whatever their health, with nobody on them. Kept with the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scheduler.framework import Ask, Candidate
from scheduler.model.jobs import NO_NODES, DeviceKind, JobShape, Role, TopologyNeeds, Want
from scheduler.model.verdict import FunnelStep, Reason, Verdict
from scheduler.place.arrange import arrange
from scheduler.place.funnel import funnel
from scheduler.reserve.quota import model_choices
from scheduler.world import World

PROBE = -2
"""Key and queue of a candidate that is only asked about."""


def impossible(world: World, shape: JobShape) -> Verdict | None:
    """Why no cluster of these nodes could run the shape, None if it could."""
    key = ("impossible", world.plugins.filters, shape)
    return world.layout.keep(key, lambda: _judge(world.pristine(), shape))


def _judge(world: World, shape: JobShape) -> Verdict | None:
    plain = relaxed(shape)
    if not _levels_exist(world, shape):
        return Verdict(Reason.NO_MATCHING_NODES, level=shape.topology.level, funnel=_funnel(world, plain))
    for position, role in enumerate(plain.roles):
        asks = [Ask(plain, position, model) for model in world.models_for(plain)[position]]
        if not any((world.view(ask).room > 0).any() for ask in asks):
            return Verdict(Reason.NO_MATCHING_NODES, role=role.name, funnel=_funnel(world, plain))
    if not fits(world, plain):
        workers = sum(role.workers for role in shape.roles)
        return Verdict(Reason.EXCEEDS_CLUSTER, asked=workers, funnel=_funnel(world, plain))
    return None if fits(world, shape) else Verdict(Reason.TOPOLOGY_UNSATISFIED, level=shape.topology.level)


def _funnel(world: World, shape: JobShape) -> tuple[FunnelStep, ...]:
    """Nodes left after each filter on the empty cluster."""
    choices = tuple(model_choices(shape, world.models_for(shape)))
    return funnel(world, Candidate(-1, PROBE, shape, PROBE), choices)


def _levels_exist(world: World, shape: JobShape) -> bool:
    """A required level that no node stands in matches no node."""
    topology = shape.topology
    required = [topology.level] if topology.level and topology.want == Want.REQUIRED else []
    required += [topology.slice.level] if topology.slice else []
    layout = world.layout
    return all(level in layout.levels and layout.domain_count[layout.levels.index(level)] for level in required)


def fits(world: World, shape: JobShape, avoid: frozenset[int] = NO_NODES, choices: Any = None) -> bool:
    """Whether a gang of this shape fits; nothing stays booked."""
    candidate = Candidate(-1, PROBE, shape, PROBE, avoid)
    for models in model_choices(shape, world.models_for(shape)) if choices is None else choices:
        asks = world.asks(shape, models, avoid)
        if _fits_anywhere(world, shape, asks) if _is_plain(shape) else _fits_arranged(world, candidate, asks):
            return True
    return False


def _is_plain(shape: JobShape) -> bool:
    """Workers of one role that may go anywhere: then the nodes' rooms add up."""
    topology, devices = shape.topology, shape.roles[0].devices
    anywhere = not topology.level and topology.slice is None and not shape.spread
    return len(shape.roles) == 1 and anywhere and devices.kind != DeviceKind.SLICE


def _fits_anywhere(world: World, shape: JobShape, asks: Sequence[Ask]) -> bool:
    return int(world.view(asks[0]).room.sum()) >= shape.roles[0].workers


def _fits_arranged(world: World, candidate: Candidate, asks: Sequence[Ask]) -> bool:
    mark = world.ledger.mark()
    found = arrange(world, candidate, asks)
    world.ledger.rollback(mark)
    return found is not None


def relaxed(shape: JobShape, **role_changes: Any) -> JobShape:
    """The shape without any wish about where its workers or devices are beside each other."""
    roles = tuple(_relaxed_role(role, role_changes) for role in shape.roles)
    return replace(shape, roles=roles, topology=TopologyNeeds(), locality=None, nic=Want.ANY, spread=False)


def _relaxed_role(role: Role, changes: dict[str, Any]) -> Role:
    return replace(role, gpu=replace(role.gpu, nvlink=Want.ANY), near="", apart="", **changes)
