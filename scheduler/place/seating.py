"""A gang that is being seated: room for each of its roles beside the seats taken already, and booking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scheduler.framework import Ask, Candidate
from scheduler.model.jobs import DeviceKind, Role
from scheduler.model.nodes import Layout
from scheduler.model.occupancy import NOBODY
from scheduler.place.devices import rule_of
from scheduler.place.fill import Parts, Supply, cut_to_slices
from scheduler.place.levels import CLUSTER, slice_level
from scheduler.place.ranks import ring_order
from scheduler.reserve.ledger import Beside, Pick
from scheduler.reserve.quota import largest_first
from scheduler.world import World

_MOST_STEPS = 4_000


class Seat(NamedTuple):
    """One worker's place."""

    position: int
    """Of its role."""
    row: int
    pick: Pick
    is_tail: bool = False
    """Belongs to the last, incomplete slice."""


class Seating:
    """One choice of models for one candidate: an ask per role."""

    def __init__(self, world: World, candidate: Candidate, asks: Sequence[Ask]) -> None:
        self.world, self.candidate, self.asks = world, candidate, asks
        self.layout, self.shape = world.layout, candidate.shape
        self.order = largest_first(self.shape)
        """Positions of the roles in the order in which they are seated."""
        self.slice_level = slice_level(self.shape, self.layout.levels)
        self.steps_left = _MOST_STEPS
        """What all searches for this gang may still try (`place/search.py`)."""

    def workers(self, position: int) -> int:
        return self.asks[position].role.workers

    def run(self, position: int) -> int:
        """Workers per slice of a role; 1 where slices do not matter."""
        wanted = self.shape.topology.slice
        return wanted.workers if wanted and position in self.shape.ranked_roles else 1

    def in_whole_runs(self, position: int) -> int:
        """Workers of a role that are in complete slices."""
        return self.workers(position) // self.run(position) * self.run(position)

    @property
    def is_in_parts(self) -> bool:
        """Seated in several steps: role by role, or whole slices and then the rest."""
        return len(self.asks) > 1 or self.in_whole_runs(0) < self.workers(0)

    def supply(self, position: int, seats: Sequence[Seat]) -> Supply:
        """Room for a role beside the seats that others of the gang have."""
        view = self.world.view(self.asks[position])
        room, name = view.room, view.ask.role.name
        if self.shape.spread:
            room = np.minimum(room, 1)
            room[[seat.row for seat in seats]] = 0
        foes = [seat.row for seat in seats if self._are_apart(name, self.asks[seat.position].role.name)]
        if foes:
            room = room.copy()
            room[foes] = 0
        if self.run(position) == 1:
            return Supply(view, room, room)
        domain = self.layout.domain_of[self.slice_level]
        return Supply(view, room, cut_to_slices(room, domain, self.run(position)), self.slice_level)

    def _are_apart(self, one: str, other: str) -> bool:
        return any(
            (r.name == one and r.apart == other) or (r.name == other and r.apart == one) for r in self.shape.roles
        )

    def wanted_beside(self, role: Role, seats: Sequence[Seat]) -> list[int]:
        """Rows of the workers seated already that this role is to be near, whichever of the two roles says so."""
        others = [(seat.row, self.asks[seat.position].role) for seat in seats]
        return [row for row, other in others if role.near == other.name or other.near == role.name]

    def keeps_slices(self, seats: Sequence[Seat]) -> bool:
        """Slices are runs of ranks, and ranks run on from role to role: a run may have been torn apart between two roles."""
        wanted = self.shape.topology.slice
        if wanted is None or self.slice_level == CLUSTER:
            return True
        rows: list[int] = []
        for position in self.shape.ranked_roles:
            mine = [seat for seat in seats if seat.position == position]
            rows += [mine[number].row for number in in_rank_order(self.layout, mine)]
        domain = self.layout.domain_of[self.slice_level][rows].tolist()
        return all(len(set(domain[at : at + wanted.workers])) == 1 for at in range(0, len(rows), wanted.workers))

    def book(
        self, position: int, parts: Parts, beside: Sequence[Seat] = (), *, is_tail: bool = False
    ) -> list[Seat] | None:
        """Give each worker its devices, one after another. None if one finds none: the caller then rolls back."""
        ask, ledger, seats = self.asks[position], self.world.ledger, list[Seat]()
        owner = self.candidate.key if self.shape.exclusive else NOBODY
        for row, workers in parts:
            taken = gpus_on(row, beside) if ask.role.devices.kind == DeviceKind.SLICE else 0
            for number in range(workers):
                gang = Beside(taken, more=workers - number - 1)
                pick = rule_of(ask).pick(self.world.site, ask, row, gang)
                if pick is None:
                    return None
                ledger.book(row, cpu=ask.role.cpu, memory=ask.role.memory, pick=pick, owner=owner)
                seats.append(Seat(position, row, pick, is_tail))
                taken |= pick.gpus
        if self.shape.exclusive:
            self.world.entered += [row for row, _ in parts]
        return seats

    def leave(self) -> None:
        """The gang is seated or given up: its nodes are to the filters what they are to everybody."""
        if self.world.entered:
            self.world.ledger.touched += self.world.entered
            self.world.entered = []


def in_rank_order(layout: Layout, seats: Sequence[Seat]) -> list[int]:
    """Positions of one role's seats in the order of their ranks; the last, incomplete slice comes last."""
    if len(seats) < 2:
        return list(range(len(seats)))
    tail = next((number for number, seat in enumerate(seats) if seat.is_tail), None)
    order: list[int] = ring_order(layout, np.array([seat.row for seat in seats]), tail=tail).tolist()
    return order


def gpus_on(row: int, seats: Sequence[Seat]) -> int:
    """Mask of the GPUs that these workers have on a node."""
    mask = 0
    for seat in seats:
        mask |= seat.pick.gpus if seat.row == row else 0
    return mask
