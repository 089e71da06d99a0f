"""A seat for every worker of a gang, with one GPU model per role: which domain, which hosts, which devices.

Roles are seated the largest workers first, all within one domain of the level tried; whatever was booked for a choice that does
not serve is taken back before the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from scheduler.framework import Ask, Candidate
from scheduler.model.columns import BoolArray, IntArray
from scheduler.model.jobs import JobShape, Want
from scheduler.model.occupancy import NOBODY
from scheduler.place.devices import rule_of
from scheduler.place.fill import Seats, Supply, cut_to_slices, fill
from scheduler.place.search import search
from scheduler.place.view import NOWHERE, View
from scheduler.reserve.ledger import Pick
from scheduler.reserve.quota import largest_first
from scheduler.world import World

_MOST_TRIES = 32
"""Domains of one level that are tried for a gang of several roles before climbing."""


@dataclass(frozen=True, slots=True)
class Seat:
    """One worker's place."""

    position: int
    """Of its role."""
    row: int
    pick: Pick
    is_tail: bool = False
    """Belongs to the last, incomplete slice."""


def arrange(world: World, candidate: Candidate, asks: Sequence[Ask]) -> list[Seat] | None:
    """Seat the whole gang and book it on the ledger; None (and nothing booked) if it does not fit."""
    if len(asks) == 1 and asks[0].role.workers == 1:
        return _seat_one(world, candidate, asks[0])
    return _Arrangement(world, candidate, asks).seat()


def _seat_one(world: World, candidate: Candidate, ask: Ask) -> list[Seat] | None:
    row = world.view(ask).best()
    pick = None if row == NOWHERE else rule_of(ask).pick(world.layout, world.ledger.used, ask, row)
    if pick is None:
        return None
    owner = candidate.key if ask.shape.exclusive else NOBODY
    world.ledger.book(row, cpu=ask.role.cpu, memory=ask.role.memory, pick=pick, owner=owner)
    return [Seat(0, row, pick)]


class _Arrangement:
    def __init__(self, world: World, candidate: Candidate, asks: Sequence[Ask]) -> None:
        self.world, self.candidate, self.asks = world, candidate, asks
        self.layout, self.shape = world.layout, candidate.shape
        self.order = largest_first(self.shape)
        self.slice_level = slice_level(self.shape, self.layout.levels)

    def seat(self) -> list[Seat] | None:
        """Try the levels from the one asked for outward, at each the domains that hold the gang, the tightest first."""
        try:
            for level in levels_to_try(self.shape, self.layout.levels, self.layout.domain_count):
                for rows in self._domains(level):
                    seats = self._seat_within(rows, level)
                    if seats is not None:
                        return seats
            return self._search() if len(self.asks) > 1 else None
        finally:
            self._leave()

    def _domains(self, level: int) -> Iterator[IntArray]:
        """Rows of each domain of the level in which every role fits by itself."""
        supplies = [self._supply(position, ()) for position in self.order]
        sizes = [self.asks[position].role.workers for position in self.order]
        if level == self.layout.host_level:
            yield from self._hosts(supplies, sizes)
            return
        caps = np.stack([self._caps(supply, level) for supply in supplies])
        plain = np.stack([self._caps(Supply(s.view, s.room, s.room), level) for s in supplies])
        whole = np.array([size // self._run(position) * self._run(position) for position, size in self._sized()])
        holds = (caps >= whole[:, None]).all(axis=0) & (plain >= np.array(sizes)[:, None]).all(axis=0)
        domains = np.flatnonzero(holds)
        tightest = domains[np.lexsort(plain[::-1][:, domains])]
        for domain in tightest[: 1 if len(self.asks) == 1 else _MOST_TRIES].tolist():
            yield self.layout.domain_rows(level, domain)

    def _sized(self) -> list[tuple[int, int]]:
        return [(position, self.asks[position].role.workers) for position in self.order]

    def _hosts(self, supplies: Sequence[Supply], sizes: Sequence[int]) -> Iterator[IntArray]:
        """Hosts that hold the whole gang, best by the node rule first."""
        holds = np.ones(len(self.layout.nodes), dtype=np.bool_)
        for supply, size in zip(supplies, sizes, strict=True):
            holds &= supply.room >= size
        rows = np.flatnonzero(holds & self._joint_fit())
        if not len(rows):
            return
        key = supplies[0].view.key_for(rows, sizes[0])
        best_first = (
            [int(key.argmax())] if len(self.asks) == 1 else np.argsort(-key, kind="stable")[:_MOST_TRIES].tolist()
        )
        for position in best_first:
            yield rows[position : position + 1]

    def _joint_fit(self) -> BoolArray:
        """Nodes whose CPU and memory suffice for all roles together."""
        used, roles = self.world.ledger.used, [ask.role for ask in self.asks]
        fits: BoolArray = used.cpu >= sum(role.cpu * role.workers for role in roles)
        return fits & (used.memory >= sum(role.memory * role.workers for role in roles))

    def _caps(self, supply: Supply, level: int) -> IntArray:
        """Room per domain of a level; level -1 has one domain."""
        room = supply.at(level)
        if level < 0:
            return np.array([room.sum()])
        domain = self.layout.domain_of[level]
        inside = domain >= 0
        count = self.layout.domain_count[level]
        return np.bincount(domain[inside], weights=room[inside], minlength=count).astype(np.int64)

    def _run(self, position: int) -> int:
        """Workers per slice of a role; 1 where slices do not matter."""
        wanted = self.shape.topology.slice
        return wanted.workers if wanted and position in self.shape.ranked_roles else 1

    def _supply(self, position: int, seats: Sequence[Seat]) -> Supply:
        """Room for a role beside the seats already taken by others of the gang."""
        view = self.world.view(self.asks[position])
        room, role = view.room, view.ask.role
        if self.shape.spread:
            room = np.minimum(room, 1)
            room[[seat.row for seat in seats]] = 0
        foes = [s.row for s in seats if self._are_apart(role.name, self.asks[s.position].role.name)]
        if foes:
            room = room.copy()
            room[foes] = 0
        if self._run(position) == 1:
            return Supply(view, room, room)
        domain = self.layout.domain_of[self.slice_level]
        return Supply(view, room, cut_to_slices(room, domain, self._run(position)), self.slice_level)

    def _are_apart(self, one: str, other: str) -> bool:
        return any(
            (role.name == one and role.apart == other) or (role.name == other and role.apart == one)
            for role in self.shape.roles
        )

    def _seat_within(self, rows: IntArray, level: int) -> list[Seat] | None:
        """Seat every role on these rows."""
        mark, seats = self.world.ledger.mark(), list[Seat]()
        for position in self.order:
            found = self._seat_role(position, rows, level, seats)
            if found is None:
                self.world.ledger.rollback(mark)
                self._leave()
                return None
            seats += found
        return seats

    def _seat_role(self, position: int, rows: IntArray, level: int, seats: Sequence[Seat]) -> list[Seat] | None:
        supply = self._supply(position, seats)
        workers = self.asks[position].role.workers
        tail = workers % self._run(position)
        within = self._nearest(supply, rows, level, seats, workers)
        if within is None:
            return None
        near_rows, near_level = within
        chosen = fill(self.layout, supply, near_rows, workers - tail, near_level) if workers > tail else []
        found = self._book(supply.view, position, chosen)
        if found is None or not tail:
            return found
        rest = self._seat_tail(position, rows, [*seats, *found], tail)
        return None if rest is None else found + rest

    def _seat_tail(self, position: int, rows: IntArray, seats: Sequence[Seat], tail: int) -> list[Seat] | None:
        """The last, incomplete slice: in one domain, preferably one that is used already, else the tightest."""
        supply, level = self._supply(position, ()), self.slice_level
        caps = np.zeros(self.layout.domain_count[level], dtype=np.int64)
        domain = self.layout.domain_of[level][rows]
        np.add.at(caps, domain[domain >= 0], supply.room[rows][domain >= 0])
        holding = np.flatnonzero(caps >= tail)
        if not len(holding):
            return None
        used = np.isin(holding, self.layout.domain_of[level][[seat.row for seat in seats]])
        best = int(holding[np.lexsort((caps[holding], ~used))[0]])
        plain = Supply(supply.view, supply.room, supply.room)
        return self._book(supply.view, position, fill(self.layout, plain, rows[domain == best], tail, level), tail=True)

    def _nearest(
        self, supply: Supply, rows: IntArray, level: int, seats: Sequence[Seat], workers: int
    ) -> tuple[IntArray, int] | None:
        """The rows to use, and the level they lie in: as near to what the gang uses already as its workers fit."""
        run = supply.slice_level
        for near, near_level in [*self._used_places(supply, rows, level, seats), (rows, level)]:
            whole = supply.at(min(near_level, run))[near].sum() if run >= 0 else supply.room[near].sum()
            if whole >= workers - workers % self._run(supply.view.ask.position) and supply.room[near].sum() >= workers:
                return near, near_level
        return None

    def _used_places(
        self, supply: Supply, rows: IntArray, level: int, seats: Sequence[Seat]
    ) -> Iterator[tuple[IntArray, int]]:
        """For a later role: hosts of the role it wants to be near, then the domains in use, innermost first."""
        near = supply.view.ask.role.near
        friends = [seat.row for seat in seats if not near or self.asks[seat.position].role.name == near]
        if not friends:
            return
        if near:
            yield np.unique(friends), self.layout.host_level - 1
        for inner in range(self.layout.host_level - 1, level, -1):
            domain = self.layout.domain_of[inner]
            used = domain[friends]
            if self.layout.domain_count[inner] and (used >= 0).all():
                yield rows[np.isin(domain[rows], used)], level

    def _book(self, view: View, position: int, chosen: Seats, *, tail: bool = False) -> list[Seat] | None:
        """Give each worker its devices, one after another."""
        ask, ledger, seats = view.ask, self.world.ledger, list[Seat]()
        owner = self.candidate.key if self.shape.exclusive else NOBODY
        for row, workers in chosen:
            taken = 0
            for _ in range(workers):
                pick = rule_of(ask).pick(self.layout, ledger.used, ask, row, taken)
                if pick is None:
                    return None
                ledger.book(row, cpu=ask.role.cpu, memory=ask.role.memory, pick=pick, owner=owner)
                seats.append(Seat(position, row, pick, tail))
                taken |= pick.gpus
        if self.shape.exclusive:
            self.world.entered += [row for row, _ in chosen]
        return seats

    def _leave(self) -> None:
        """The gang's own nodes are whole nodes again to the filters."""
        if self.world.entered:
            self.world.ledger.touched += self.world.entered
            self.world.entered = []

    def _search(self) -> list[Seat] | None:
        """Last resort for gangs of several roles: worker by worker, every choice, within one domain if one is required."""
        if self.slice_level >= 0:
            return None
        slots = [position for position in self.order for _ in range(self.asks[position].role.workers)]
        level = required_level(self.shape, self.layout.levels)
        for domain in range(self.layout.domain_count[level] if level >= 0 else 1):
            rows = self.layout.domain_rows(level, domain)
            found = search(self.world, slots, self._supply, self._seat_on, rows)
            if found is not None:
                return found
        return None

    def _seat_on(self, position: int, row: int) -> list[Seat] | None:
        return self._book(self.world.view(self.asks[position]), position, [(row, 1)])


def levels_to_try(shape: JobShape, levels: Sequence[str], counts: Sequence[int]) -> list[int]:
    """Positions of the levels, from the one asked for outward; -1 = the whole cluster. A required level stands alone."""
    required = required_level(shape, levels)
    if required >= 0:
        return [required]
    wanted = shape.topology.level
    start = levels.index(wanted) if wanted in levels else len(levels) - 1
    return [level for level in range(start, -1, -1) if counts[level]] + [-1]


def required_level(shape: JobShape, levels: Sequence[str]) -> int:
    """Position of the level that must hold the whole gang, -1 = none."""
    topology = shape.topology
    return levels.index(topology.level) if topology.want == Want.REQUIRED and topology.level in levels else -1


def slice_level(shape: JobShape, levels: Sequence[str]) -> int:
    """Position of the level that each slice stays in, -1 = none."""
    wanted = shape.topology.slice
    return levels.index(wanted.level) if wanted and wanted.level in levels else -1
