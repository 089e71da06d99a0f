"""A seat for every worker of a gang, with one GPU model per role: which domain, which hosts, which devices.

Roles are seated the largest workers first, all within one domain of the level tried; whatever was booked for a choice that does
not serve is taken back before the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from scheduler.framework import Ask, Candidate
from scheduler.model.columns import IntArray
from scheduler.model.occupancy import NOBODY
from scheduler.place.devices import rule_of
from scheduler.place.domains import holding_domains
from scheduler.place.fill import Supply, fill
from scheduler.place.levels import levels_inside, levels_to_try, names_wider_level
from scheduler.place.search import search
from scheduler.place.seating import Seat, Seating
from scheduler.place.view import NOWHERE
from scheduler.world import World

Place = tuple[IntArray, int]
"""Node rows, and the level of the domain they lie in."""


def arrange(world: World, candidate: Candidate, asks: Sequence[Ask]) -> list[Seat] | None:
    """Seat the whole gang and book it on the ledger; None (and nothing booked) if it does not fit."""
    if len(asks) == 1 and asks[0].role.workers == 1 and not names_wider_level(candidate.shape, world.layout.levels):
        return _seat_one(world, candidate, asks[0])
    if any(int(world.view(ask).room.sum()) < ask.role.workers for ask in asks):
        return None
    seating = Seating(world, candidate, asks)
    try:
        return _seat_gang(seating)
    finally:
        seating.leave()


def _seat_one(world: World, candidate: Candidate, ask: Ask) -> list[Seat] | None:
    row = world.view(ask).best()
    pick = None if row == NOWHERE else rule_of(ask).pick(world.site, ask, row)
    if pick is None:
        return None
    owner = candidate.key if ask.shape.exclusive else NOBODY
    world.ledger.book(row, cpu=ask.role.cpu, memory=ask.role.memory, pick=pick, owner=owner)
    return [Seat(0, row, pick)]


def _seat_gang(seating: Seating) -> list[Seat] | None:
    """From the level asked for outward, at each the domains that hold the gang, the tightest first."""
    layout = seating.layout
    first, *wider = levels_to_try(seating.shape, layout.levels, layout.domain_count)
    for rows in holding_domains(seating, first):
        seats = _seat_inward(seating, (rows, first))
        if seats is not None:
            return seats
    for level in wider:
        for rows in holding_domains(seating, level):
            seats = _seat_in(seating, (rows, level))
            if seats is not None:
                return seats
    return None


def _seat_inward(seating: Seating, place: Place) -> list[Seat] | None:
    """In one subdomain if one holds the whole gang, else in the place as a whole. What is seated at once, `fill` divides so."""
    if seating.is_in_parts:
        rows, level = place
        for inner in levels_inside(seating.layout, level):
            for inside in holding_domains(seating, inner, rows):
                seats = _seat_inward(seating, (inside, inner))
                if seats is not None:
                    return seats
    return _seat_in(seating, place)


def _seat_in(seating: Seating, place: Place) -> list[Seat] | None:
    """Role by role; where that leaves a later role without room, with the next choices for the earlier ones.

    What is too large for the search is tried once more with the small roles first.
    """
    seats = _seat_within(seating, place, seating.order)
    if seats is not None or len(seating.asks) == 1 or len(place[0]) == 1:
        return seats
    slots = [position for position in seating.order for _ in range(seating.workers(position))]
    return search(seating, slots, place[0]) or _seat_within(seating, place, seating.order[::-1])


def _seat_within(seating: Seating, place: Place, order: Sequence[int]) -> list[Seat] | None:
    """Every role in this place, in this order, or nobody."""
    mark, seats = seating.world.ledger.mark(), list[Seat]()
    for position in order:
        found = _seat_role(seating, position, place, seats)
        if found is None:
            break
        seats += found
    else:
        if seating.keeps_slices(seats):
            return seats
    seating.world.ledger.rollback(mark)
    seating.leave()
    return None


def _seat_role(seating: Seating, position: int, place: Place, seats: Sequence[Seat]) -> list[Seat] | None:
    supply = seating.supply(position, seats)
    in_runs = seating.in_whole_runs(position)
    within = _nearest(seating, supply, place, seats)
    if within is None:
        return None
    parts = fill(seating.layout, supply, within[0], in_runs, level=within[1]) if in_runs else []
    found = seating.book(position, parts, seats)
    if found is None or in_runs == seating.workers(position):
        return found
    tail = _seat_tail(seating, position, place[0], [*seats, *found])
    return None if tail is None else found + tail


def _seat_tail(seating: Seating, position: int, rows: IntArray, seats: Sequence[Seat]) -> list[Seat] | None:
    """The last, incomplete slice: in one domain, preferably one that is used already, else the tightest."""
    tail = seating.workers(position) - seating.in_whole_runs(position)
    supply, level = seating.supply(position, seats), seating.slice_level
    domain = seating.layout.domain_of[level][rows]
    caps = np.bincount(domain + 1, weights=supply.room[rows], minlength=seating.layout.domain_count[level] + 1)[1:]
    holding = np.flatnonzero(caps >= tail)
    if not len(holding):
        return None
    used = np.isin(holding, seating.layout.domain_of[level][[seat.row for seat in seats]])
    best = int(holding[np.lexsort((caps[holding], ~used))[0]])
    plain = Supply(supply.view, supply.room, supply.room)
    parts = fill(seating.layout, plain, rows[domain == best], tail, level=level)
    return seating.book(position, parts, seats, is_tail=True)


def _nearest(seating: Seating, supply: Supply, place: Place, seats: Sequence[Seat]) -> Place | None:
    """As near to what the gang uses already as all workers of the role fit."""
    position = supply.view.ask.position
    for rows, level in [*_used_places(seating, supply, place, seats), place]:
        coarse = supply.at(min(level, supply.slice_level))[rows].sum()
        if coarse >= seating.in_whole_runs(position) and supply.room[rows].sum() >= seating.workers(position):
            return rows, level
    return None


def _used_places(seating: Seating, supply: Supply, place: Place, seats: Sequence[Seat]) -> Iterator[Place]:
    """For a later role: hosts of the roles it is to be near, then the domains in use, innermost first."""
    (rows, level), layout = place, seating.layout
    beside = seating.wanted_beside(supply.view.ask.role, seats)
    friends = beside or [seat.row for seat in seats]
    if beside:
        yield np.array(sorted(set(beside))), layout.host_level - 1
    for inner in range(layout.host_level - 1, level, -1) if friends else ():
        domain = layout.domain_of[inner]
        if layout.domain_count[inner] and (domain[friends] >= 0).all():
            yield rows[np.isin(domain[rows], domain[friends])], level
