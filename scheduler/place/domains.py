"""Domains of one level that hold a gang, the tightest first; among hosts the node rule decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from scheduler.model.columns import BoolArray, IntArray
from scheduler.model.jobs import DeviceKind
from scheduler.model.nodes import Layout
from scheduler.place.fill import Supply
from scheduler.place.levels import CLUSTER
from scheduler.place.seating import Seating
from scheduler.place.view import room_per_domain

_MOST_TRIES = 32
"""Domains of one level that are offered to a gang of several roles; one role fits the first or none."""


def holding_domains(seating: Seating, level: int, within: IntArray | None = None) -> Iterator[IntArray]:
    """Node rows of each domain of the level in which every role fits by itself; `within`: only that part of the cluster."""
    layout, order = seating.layout, seating.order
    supplies = [seating.supply(position, ()) for position in order]
    if level == layout.host_level:
        yield from _holding_hosts(seating, supplies, within)
        return
    inside = _Part(layout, level, within)
    sizes = np.array([seating.workers(position) for position in order])
    in_runs = np.array([seating.in_whole_runs(position) for position in order])
    caps = np.stack([inside.room(supply, supply.room) for supply in supplies])
    coarse = np.stack([inside.room(supply, supply.at(level)) for supply in supplies])
    holds = (caps >= sizes[:, None]).all(axis=0) & (coarse >= in_runs[:, None]).all(axis=0)
    for free, wanted in _joint_needs(seating):
        holds &= inside.sums(free) >= wanted
    domains = np.flatnonzero(holds)
    tightest_first = domains[np.lexsort(caps[::-1][:, domains])]
    for domain in tightest_first[: _tries(seating)].tolist():
        yield inside.rows(domain)


def _holding_hosts(seating: Seating, supplies: Sequence[Supply], within: IntArray | None) -> Iterator[IntArray]:
    sizes = [seating.workers(position) for position in seating.order]
    holds = np.ones(len(seating.layout.nodes), dtype=np.bool_) if within is None else _mask(seating.layout, within)
    for free, wanted in _joint_needs(seating):
        holds &= free >= wanted
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


def _joint_needs(seating: Seating) -> Iterator[tuple[IntArray, int]]:
    """([N] what is free, what all roles together need) of CPU, memory and whole GPUs of each model: necessary, not enough."""
    if len(seating.asks) == 1:
        return
    used, layout = seating.world.ledger.used, seating.layout
    roles = [ask.role for ask in seating.asks]
    yield np.maximum(used.cpu, 0), sum(role.cpu * role.workers for role in roles)
    yield np.maximum(used.memory, 0), sum(role.memory * role.workers for role in roles)
    for model in {ask.model for ask in seating.asks if ask.role.devices.kind == DeviceKind.WHOLE}:
        mine = [ask.role for ask in seating.asks if ask.model == model and ask.role.devices.kind == DeviceKind.WHOLE]
        free = np.bitwise_count(used.free).astype(np.int64)
        has_model = layout.model_of == layout.models.index(model) if model else False
        yield np.where(has_model, free, 0), sum(role.devices.count * role.workers for role in mine)


class _Part:
    """The domains of one level, or what lies `within` of them."""

    def __init__(self, layout: Layout, level: int, within: IntArray | None) -> None:
        self.layout, self.level = layout, level
        self.mask = None if within is None else _mask(layout, within)

    def room(self, supply: Supply, room: IntArray) -> IntArray:
        """Workers per domain."""
        if room is supply.view.room and self.mask is None and self.level != CLUSTER:
            return supply.view.room_in(self.level)
        return self.sums(room)

    def sums(self, amount: IntArray) -> IntArray:
        """Sums of amounts per node."""
        inside = amount if self.mask is None else np.where(self.mask, amount, 0)
        return (
            np.array([inside.sum()]) if self.level == CLUSTER else room_per_domain(self.layout, inside, self.level)[1:]
        )

    def rows(self, domain: int) -> IntArray:
        """Its nodes."""
        rows = self.layout.domain_rows(self.level, domain)
        return rows if self.mask is None else rows[self.mask[rows]]


def _mask(layout: Layout, rows: IntArray) -> BoolArray:
    mask = np.zeros(len(layout.nodes), dtype=np.bool_)
    mask[rows] = True
    return mask
