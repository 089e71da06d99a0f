"""Exhaustive seating of small gangs of several roles, within a budget: a place is given up only when no choice serves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduler.model.columns import IntArray
from scheduler.place.fill import Supply
from scheduler.place.seating import Seat, Seating

_MOST_WORKERS = 32
_MOST_STEPS = 400


def search(seating: Seating, slots: Sequence[int], rows: IntArray) -> list[Seat] | None:
    """Depth first over `slots` (one role position per worker). Nodes in the same state count once per step."""
    if len(slots) > _MOST_WORKERS:
        return None
    ledger, entered = seating.world.ledger, seating.world.entered
    steps = min(_MOST_STEPS, seating.steps_left)
    seating.steps_left -= steps

    def descend(at: int, seats: list[Seat]) -> list[Seat] | None:
        nonlocal steps
        if at == len(slots):
            return seats if seating.keeps_slices(seats) else None
        for row in _choices(seating, seating.supply(slots[at], seats), rows):
            steps -= 1
            if steps < 0:
                return None
            mark, was_in = ledger.mark(), len(entered)
            seat = seating.book(slots[at], [(row, 1)], seats)
            found = None if seat is None else descend(at + 1, seats + seat)
            if found is not None:
                return found
            ledger.rollback(mark)
            ledger.touched += entered[was_in:]
            del entered[was_in:]
        return None

    found = descend(0, [])
    seating.steps_left += max(steps, 0)
    return found


def _choices(seating: Seating, supply: Supply, rows: IntArray) -> list[int]:
    """Nodes with room, best first, one of each kind and state."""
    could = rows[supply.room[rows] > 0]
    best_first = could[np.argsort(-supply.view.key[could], kind="stable")]
    used, layout = seating.world.ledger.used, seating.layout
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
