"""Whole GPUs: a lookup in the device tables."""

from __future__ import annotations

import numpy as np

from scheduler.framework import Ask, Rows
from scheduler.model.columns import FloatArray, IntArray
from scheduler.model.jobs import DeviceKind
from scheduler.model.occupancy import Site
from scheduler.reserve.ledger import ALONE, Beside, Pick


class WholeGpus:
    """Room is counted in whole GPUs alone; whether a set is joined as required is the links filter's question."""

    def room(self, site: Site, ask: Ask, rows: Rows) -> IntArray:
        free = np.bitwise_count(site.used.free[rows]).astype(np.int64)
        count = ask.role.devices.count
        return free if count == 1 else free // count

    def sharing(self, site: Site, ask: Ask, rows: Rows) -> FloatArray:
        return np.zeros(len(site.used.free[rows]))

    def pick(self, site: Site, ask: Ask, row: int, gang: Beside = ALONE) -> Pick | None:
        lookup = site.layout.lookup(ask.need)
        shape, free = int(site.layout.shape_of[row]), int(site.used.free[row])
        slot = lookup.slot(shape, free)
        chosen, quality = int(lookup.chosen[slot]), int(lookup.quality[slot])
        if gang.more and ask.need.is_strict and lookup.times[lookup.slot(shape, free & ~chosen)] < gang.more:
            chosen, quality = lookup.tables[shape].leaving(free, gang.more)
        return Pick(DeviceKind.WHOLE, chosen, quality=quality) if chosen else None
