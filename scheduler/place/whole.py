"""Whole GPUs: a lookup in the device tables."""

from __future__ import annotations

import numpy as np

from scheduler.framework import Ask, Rows
from scheduler.model.columns import FloatArray, IntArray
from scheduler.model.jobs import DeviceKind
from scheduler.model.occupancy import Site
from scheduler.reserve.ledger import Pick


class WholeGpus:
    """Room is counted in whole GPUs alone; whether a set is joined as required is the links filter's question."""

    def room(self, site: Site, ask: Ask, rows: Rows) -> IntArray:
        free = np.bitwise_count(site.used.free[rows]).astype(np.int64)
        count = ask.role.devices.count
        return free if count == 1 else free // count

    def sharing(self, site: Site, ask: Ask, rows: Rows) -> FloatArray:
        return np.zeros(len(site.used.free[rows]))

    def pick(self, site: Site, ask: Ask, row: int, taken: int = 0) -> Pick | None:
        lookup = site.layout.lookup(ask.need)
        slot = lookup.slot(int(site.layout.shape_of[row]), int(site.used.free[row]))
        chosen = int(lookup.chosen[slot])
        return Pick(DeviceKind.WHOLE, chosen, quality=int(lookup.quality[slot])) if chosen else None
