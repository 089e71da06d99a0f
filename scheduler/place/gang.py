"""One gang, from candidate to a place for every worker: models in order, then domains, nodes and devices (`arrange.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from scheduler.framework import Ask, Candidate, Gang
from scheduler.model.hardware import GpuModel
from scheduler.model.jobs import NO_NODES, DeviceKind, JobShape
from scheduler.model.plan import WorkerPlacement
from scheduler.model.policy import PlacementPolicy
from scheduler.place.arrange import arrange
from scheduler.place.ranks import ring_order
from scheduler.place.seating import Seat, in_rank_order
from scheduler.place.view import NOWHERE
from scheduler.world import World

Models = tuple[GpuModel | None, ...]


def place_gang(world: World, candidate: Candidate, choices: Iterable[Models]) -> Gang | None:
    """The first choice of models with which the whole gang fits; it is then booked on the ledger."""
    avoid = avoided(world, candidate)
    for models in _in_order(world, candidate.shape, choices, avoid):
        asks = world.asks(candidate.shape, models, avoid)
        seats = arrange(world, candidate, asks)
        if seats is not None:
            return Gang(candidate, models, tuple(_numbered(world, candidate.shape, seats)))
    return None


def _in_order(world: World, shape: JobShape, choices: Iterable[Models], avoid: frozenset[int]) -> Iterable[Models]:
    """Flavor goes before the node, except where fragmentation decides: there the least capable one only breaks ties."""
    role = shape.roles[0]
    is_single = len(shape.roles) == 1 and role.workers == 1 and role.devices.kind != DeviceKind.NONE
    if world.policy.placement != PlacementPolicy.FRAGMENTATION or role.gpu.models or not is_single:
        return choices

    def best_key(models: Models) -> int:
        return int(world.view(world.asks(shape, models, avoid)[0]).key.max(initial=NOWHERE))

    return sorted(choices, key=best_key, reverse=True)


def avoided(world: World, candidate: Candidate) -> frozenset[int]:
    """Nodes to keep off; none of them where a role would then have no node at all."""
    if not candidate.avoid or world.is_pristine:
        return NO_NODES
    for position, models in enumerate(world.models_for(candidate.shape)):
        asks = [Ask(candidate.shape, position, model, candidate.avoid) for model in models]
        if not any(world.fixed_mask(ask).any() for ask in asks):
            return NO_NODES
    return candidate.avoid


def _numbered(world: World, shape: JobShape, seats: Sequence[Seat]) -> list[WorkerPlacement]:
    """Workers by role in file order, numbered along the topology tree; ranks run through the roles that have them."""
    placed: list[WorkerPlacement] = []
    rank = 0
    for position in range(len(shape.roles)):
        mine = [seat for seat in seats if seat.position == position]
        has_rank = position in shape.ranked_roles
        for index, number in enumerate(in_rank_order(world.layout, mine)):
            own_rank = rank + index if has_rank else -1
            placed.append(placement_of(world, shape, mine[number], index=index, rank=own_rank))
        rank += len(mine) if has_rank else 0
    return placed


def placement_of(world: World, shape: JobShape, seat: Seat, *, index: int, rank: int) -> WorkerPlacement:
    """A seat as the plan tells it."""
    role, pick = shape.roles[seat.position], seat.pick
    return WorkerPlacement(
        role=role.name,
        index=index,
        rank=rank,
        node=int(world.layout.nodes.key[seat.row]),
        kind=pick.kind,
        gpus=pick.gpus,
        milli=pick.milli,
        profile=role.devices.profile,
        mig_start=pick.start,
        quality=pick.quality,
    )


def in_ring_order(world: World, rows: Sequence[int]) -> Sequence[int]:
    """Positions of workers on these node rows in rank order."""
    if len(rows) < 2:
        return range(len(rows))
    order: list[int] = ring_order(world.layout, np.array(rows)).tolist()
    return order
