"""Exhaustive seating of small gangs of several roles, within a budget: a gang is refused only when no choice serves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.model.columns import IntArray

if TYPE_CHECKING:
    from scheduler.place.fill import Supply
    from scheduler.world import World

_MOST_WORKERS = 32
_MOST_STEPS = 400

Seats = list[Any]
SupplyOf = Callable[[int, Sequence[Any]], "Supply"]
SeatOn = Callable[[int, int], Seats | None]


def search(world: World, slots: Sequence[int], supply_of: SupplyOf, seat_on: SeatOn, rows: IntArray) -> Seats | None:
    """Depth first over `slots` (one role position per worker). Nodes in the same state count once per step."""
    if len(slots) > _MOST_WORKERS:
        return None
    steps = _MOST_STEPS

    def descend(at: int, seats: Seats) -> Seats | None:
        nonlocal steps
        if at == len(slots):
            return seats
        for row in _choices(world, supply_of(slots[at], seats), rows):
            steps -= 1
            if steps < 0:
                return None
            mark, entered = world.ledger.mark(), len(world.entered)
            seat = seat_on(slots[at], row)
            found = None if seat is None else descend(at + 1, seats + seat)
            if found is not None:
                return found
            world.ledger.rollback(mark)
            world.ledger.touched += world.entered[entered:]
            del world.entered[entered:]
        return None

    return descend(0, [])


def _choices(world: World, supply: Supply, rows: IntArray) -> list[int]:
    """Nodes with room, best first, one of each kind and state."""
    could = rows[supply.room[rows] > 0]
    best_first = could[np.argsort(-supply.view.key[could], kind="stable")]
    used, layout = world.ledger.used, world.layout
    seen, chosen = set(), []
    for row in best_first.tolist():
        parts = used.kind[row].tobytes() + used.milli[row].tobytes() + used.slices[row].tobytes()
        domains = tuple(layout.domain_of[: layout.host_level, row].tolist())
        state = (
            int(layout.shape_of[row]),
            int(used.free[row]),
            int(used.cpu[row]),
            int(used.memory[row]),
            parts,
            domains,
        )
        if state not in seen:
            seen.add(state)
            chosen.append(row)
    return chosen
