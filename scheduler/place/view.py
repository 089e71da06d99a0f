"""Room and sort key of every node for one ask, kept through a plan: only touched nodes are worked out again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from scheduler.framework import UNLIMITED, Ask, Rows
from scheduler.model.columns import IntArray
from scheduler.model.nodes import Layout
from scheduler.model.verdict import Cause
from scheduler.score.bands import SCALES, Scale

if TYPE_CHECKING:
    from scheduler.registry import ScoreUse
    from scheduler.world import World

NOWHERE = -1


class View:
    """`room` [N]: workers that fit. `key` [N]: precedence of the node for its next worker, NOWHERE where none fits."""

    def __init__(self, world: World, ask: Ask) -> None:
        self.world, self.ask = world, ask
        self.fixed = world.fixed_mask(ask)
        self.filters = [f for f in world.plugins.filters if not f.fixed and f.applies(ask)]
        self.scores = [(SCALES[band], uses) for band, uses in world.plugins.scores_for(ask).items()]
        self.per_count = [(scale, uses) for scale, uses in self.scores if any(use.plugin.per_count for use in uses)]
        self.room: IntArray = np.zeros(len(self.fixed), dtype=np.int64)
        self.key: IntArray = np.full(len(self.fixed), NOWHERE, dtype=np.int64)
        self._room_in: dict[int, IntArray] = {}
        everywhere = bool(self.fixed.all())
        self._work_out(slice(None) if everywhere else np.flatnonzero(self.fixed))
        self.seen = len(world.ledger.touched)

    def refresh(self) -> None:
        """Catch up with what was booked and returned since the last time."""
        touched = self.world.ledger.touched
        if self.seen == len(touched):
            return
        rows = np.array(touched[self.seen :] if len(touched) == self.seen + 1 else list(set(touched[self.seen :])))
        self.seen = len(touched)
        rows = rows[self.fixed[rows]]
        if len(rows):
            self._work_out(rows)

    def best(self) -> int:
        """The node for one worker, NOWHERE if there is none. Ties go to the node registered first."""
        if not len(self.key):
            return NOWHERE
        row = int(self.key.argmax())
        return row if self.key[row] >= 0 else NOWHERE

    def room_in(self, level: int) -> IntArray:
        """Workers that fit into each domain of a level, kept up to date like the rooms they are sums of."""
        if level not in self._room_in:
            self._room_in[level] = room_per_domain(self.world.layout, self.room, level)
        return self._room_in[level][1:]

    def key_for(self, rows: IntArray, workers: int) -> IntArray:
        """Sort key of these nodes if `workers` of them go there together."""
        key: IntArray = self.key[rows]
        if workers == 1 or not self.per_count:
            return key
        for scale, uses in self.per_count:
            key = key - self._points(scale, uses, rows, 1) + self._points(scale, uses, rows, workers)
        return key

    def _work_out(self, rows: Rows) -> None:
        room = self.room_of(rows)
        key = np.zeros(len(room), dtype=np.int64)
        for scale, uses in self.scores:
            key += self._points(scale, uses, rows, 1)
        for level, in_domain in self._room_in.items():
            np.add.at(in_domain, self.world.layout.domain_of[level][rows] + 1, room - self.room[rows])
        self.room[rows] = room
        self.key[rows] = np.where(room > 0, key, NOWHERE)

    def is_bound_by(self, *causes: Cause) -> bool:
        """Whether any node would have more room without the filters for these causes."""
        rows = np.flatnonzero(self.fixed)
        return bool((self.room_of(rows, causes) > self.room[rows]).any())

    def room_of(self, rows: Rows, without: Sequence[Cause] = ()) -> IntArray:
        """Workers that fit on each of these nodes, fixed filters left aside."""
        room: IntArray | None = None
        for plugin in self.filters:
            if plugin.cause in without:
                continue
            more = plugin.room(self.world, self.ask, rows)
            room = more if room is None else np.minimum(room, more)
        if room is None:
            return np.full(len(self.fixed[rows]), UNLIMITED, dtype=np.int64)
        return np.maximum(room, 0)

    def _points(self, scale: Scale, uses: Sequence[ScoreUse], rows: Rows, workers: int) -> IntArray:
        """Points of one band: its plugins' scores by weight."""
        if len(uses) == 1:
            return scale.points(uses[0].plugin.score(self.world, self.ask, rows, workers))
        total = sum(use.weight for use in uses)
        scores = [use.weight / total * use.plugin.score(self.world, self.ask, rows, workers) for use in uses]
        return scale.points(np.sum(scores, axis=0))


def room_per_domain(layout: Layout, room: IntArray, level: int) -> IntArray:
    """Sums of room per domain; slot 0 gathers the nodes outside any domain."""
    domain = layout.domain_of[level]
    return np.bincount(domain + 1, weights=room, minlength=layout.domain_count[level] + 1).astype(np.int64)
