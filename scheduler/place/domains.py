"""Domains of one level that hold a gang, the tightest first; among hosts the node rule decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from scheduler.model.columns import BoolArray, IntArray
from scheduler.model.nodes import Layout
from scheduler.place.fill import Supply
from scheduler.place.levels import CLUSTER
from scheduler.place.seating import Seating
from scheduler.place.view import room_per_domain

_MOST_TRIES = 32
"""Domains of one level that are offered to a gang of several roles; one role fits the first or none."""


def holding_domains(seating: Seating, level: int) -> Iterator[IntArray]:
    """Node rows of each domain of the level in which every role fits by itself."""
    layout, order = seating.layout, seating.order
    supplies = [seating.supply(position, ()) for position in order]
    if level == layout.host_level:
        yield from _holding_hosts(seating, supplies)
        return
    sizes = np.array([seating.workers(position) for position in order])
    in_runs = np.array([seating.in_whole_runs(position) for position in order])
    caps = np.stack([_room_per_domain(layout, supply, supply.room, level) for supply in supplies])
    coarse = np.stack([_room_per_domain(layout, supply, supply.at(level), level) for supply in supplies])
    holds = (caps >= sizes[:, None]).all(axis=0) & (coarse >= in_runs[:, None]).all(axis=0)
    domains = np.flatnonzero(holds)
    tightest_first = domains[np.lexsort(caps[::-1][:, domains])]
    for domain in tightest_first[: _tries(seating)].tolist():
        yield layout.domain_rows(level, domain)


def _holding_hosts(seating: Seating, supplies: Sequence[Supply]) -> Iterator[IntArray]:
    sizes = [seating.workers(position) for position in seating.order]
    holds = _joint_fit(seating)
    for supply, size in zip(supplies, sizes, strict=True):
        holds &= supply.room >= size
    rows = np.flatnonzero(holds)
    if not len(rows):
        return
    key = supplies[0].view.key_for(rows, sizes[0])
    best_first = [int(key.argmax())] if _tries(seating) == 1 else np.argsort(-key, kind="stable")[:_MOST_TRIES].tolist()
    for place in best_first:
        yield rows[place : place + 1]


def _tries(seating: Seating) -> int:
    return 1 if len(seating.asks) == 1 else _MOST_TRIES


def _joint_fit(seating: Seating) -> BoolArray:
    """Nodes whose CPU and memory suffice for all roles together."""
    used, roles = seating.world.ledger.used, [ask.role for ask in seating.asks]
    enough: BoolArray = used.cpu >= sum(role.cpu * role.workers for role in roles)
    return enough & (used.memory >= sum(role.memory * role.workers for role in roles))


def _room_per_domain(layout: Layout, supply: Supply, room: IntArray, level: int) -> IntArray:
    if level == CLUSTER:
        return np.array([room.sum()])
    if room is supply.view.room:
        return supply.view.room_in(level)
    return room_per_domain(layout, room, level)[1:]
