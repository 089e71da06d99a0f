"""How a role's workers are divided over the domains and hosts below one domain.

At each level: one subdomain if one holds them all (the tightest), else the largest ones, and the tightest for the last part. Among
hosts the node rule decides between equals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler.model.columns import IntArray
from scheduler.model.nodes import Layout
from scheduler.place.view import View

Parts = list[tuple[int, int]]
"""(node row, workers), in the order of the topology tree."""


@dataclass(frozen=True)
class Supply:
    """Room per node for one role. `coarse` is room cut to whole slices, valid from `slice_level` outward."""

    view: View
    room: IntArray
    coarse: IntArray
    slice_level: int = -1
    """Position of the level in the layout; -1 = no slices."""

    def at(self, level: int) -> IntArray:
        """Room to count with when domains of this level are compared."""
        return self.coarse if level <= self.slice_level else self.room


def fill(layout: Layout, supply: Supply, rows: IntArray, workers: int, *, level: int) -> Parts:
    """Parts for `workers` on `rows`, all of which lie in one domain of `level` (-1 = the whole cluster). They must fit."""
    below = level + 1
    while below < layout.host_level and not layout.domain_count[below]:
        below += 1
    rows = rows[supply.room[rows] > 0]
    if below >= layout.host_level:
        return _fill_hosts(supply, rows, workers, below)
    _, group = np.unique(layout.group_of[below][rows], return_inverse=True)
    caps = np.bincount(group, weights=supply.at(below)[rows]).astype(np.int64)
    order, starts = _grouped(group, len(caps))
    parts: Parts = []
    for domain, share in divide(caps, workers):
        inside = rows[order[starts[domain] : starts[domain + 1]]]
        parts += fill(layout, supply, inside, share, level=below)
    return parts


def divide(caps: IntArray, workers: int) -> list[tuple[int, int]]:
    """(domain, share) by the rule above; ties go to the domain registered first."""
    order = np.argsort(-caps, kind="stable")
    before = np.cumsum(caps[order]) - caps[order]
    left = workers - before
    last = int(np.argmax(left <= caps[order]))
    parts = [(int(domain), int(caps[domain])) for domain in order[:last]]
    rest = int(left[last])
    holding = np.sort(order[last:][caps[order[last:]] >= rest])
    return [*parts, (int(holding[np.argmin(caps[holding])]), rest)]


def _fill_hosts(supply: Supply, rows: IntArray, workers: int, level: int) -> Parts:
    room, key = supply.at(level)[rows], supply.view.key[rows]
    order = np.lexsort((-key, -room))
    before = np.cumsum(room[order]) - room[order]
    left = workers - before
    last = int(np.argmax(left <= room[order]))
    seats = list(zip(rows[order[:last]].tolist(), room[order[:last]].tolist(), strict=True))
    rest = int(left[last])
    holding = np.sort(order[last:][room[order[last:]] >= rest])
    best = rows[holding[int(supply.view.key_for(rows[holding], rest).argmax())]]
    return [*seats, (int(best), rest)]


def _grouped(group: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Order that brings members of a group together (kept in order), and where each group starts."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(count + 1))
    return order, starts


def cut_to_slices(room: IntArray, domain: IntArray, size: int) -> IntArray:
    """Room reduced so that every domain's sum is a multiple of `size`; nodes outside any domain get none."""
    order = np.argsort(domain, kind="stable")
    kept = np.where(domain[order] >= 0, room[order], 0)
    through = np.cumsum(kept)
    first = np.searchsorted(domain[order], domain[order])
    base = through[first] - kept[first]
    last = np.searchsorted(domain[order], domain[order], side="right") - 1
    bound = (through[last] - base) // size * size
    within = np.minimum(through - base, bound)
    previous = np.minimum(through - kept - base, bound)
    cut = np.zeros_like(room)
    cut[order] = within - previous
    return cut
