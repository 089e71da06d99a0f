"""How many nodes are left to each role after each filter: the funnel that every refused gang is shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduler.framework import Ask, Candidate
from scheduler.model.columns import BoolArray
from scheduler.model.hardware import GpuModel
from scheduler.model.verdict import Cause, FunnelStep
from scheduler.world import World


def funnel(
    world: World, candidate: Candidate, choices: Sequence[tuple[GpuModel | None, ...]]
) -> tuple[FunnelStep, ...]:
    """Filters that look at nodes alone come first, then those that look at what is in use. All models that serve count."""
    steps: list[FunnelStep] = []
    for position, role in enumerate(candidate.shape.roles):
        models = dict.fromkeys(models[position] for models in choices)
        if not models:
            steps += _without_a_model(world, Ask(candidate.shape, position, None, candidate.avoid), role.name)
            continue
        asks = tuple(Ask(candidate.shape, position, model, candidate.avoid) for model in models)
        steps += _fixed_steps(world, asks, role.name)
        steps += _steps_in_use(world, asks, role.name)
    return tuple(steps)


def _fixed_steps(world: World, asks: tuple[Ask, ...], role: str) -> list[FunnelStep]:
    """Kept with the nodes, like the masks themselves."""

    def count() -> list[FunnelStep]:
        left = {ask: np.ones(len(world.layout.nodes), dtype=np.bool_) for ask in asks}
        return _narrowed(world, left, role, fixed=True)

    return world.layout.keep(("funnel", world.plugins.filters, asks, world.is_pristine), count)


def _without_a_model(world: World, ask: Ask, role: str) -> list[FunnelStep]:
    """The cluster has no GPU model that serves: what the other fixed filters leave, and then nothing."""
    return [*_fixed_steps(world, (ask,), role), FunnelStep(role, Cause.MODEL, 0)]


def _steps_in_use(world: World, asks: tuple[Ask, ...], role: str) -> list[FunnelStep]:
    return _narrowed(world, {ask: world.fixed_mask(ask).copy() for ask in asks}, role, fixed=False)


def _narrowed(world: World, left: dict[Ask, BoolArray], role: str, *, fixed: bool) -> list[FunnelStep]:
    """One step per filter; `left` holds the nodes still open to each ask and is narrowed on the way."""
    steps = []
    for plugin in world.plugins.filters:
        asks = [ask for ask in left if plugin.fixed == fixed and plugin.applies(ask)]
        for ask in asks:
            left[ask] &= plugin.room(world, ask, slice(None)) > 0
        if asks:
            steps.append(FunnelStep(role, plugin.cause, int(np.any(list(left.values()), axis=0).sum())))
    return steps


def nodes_out(world: World, candidate: Candidate, choices: Sequence[tuple[GpuModel | None, ...]]) -> int:
    """Nodes that would do for some role if they were ready, not cordoned, and not avoided."""
    asks = {ask for models in choices for ask in world.asks(candidate.shape, models, candidate.avoid)}
    out = np.zeros(len(world.layout.nodes), dtype=np.bool_)
    for ask in asks:
        out |= _whatever_the_health(world, ask) & ~world.fixed_mask(ask)
    return int(out.sum())


def _whatever_the_health(world: World, ask: Ask) -> BoolArray:
    return world.layout.keep(("but health", world.plugins.filters, ask), lambda: world.mask_of(ask, Cause.HEALTH))
