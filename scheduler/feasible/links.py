"""GPU sets that are joined as required, with a NIC beside them where one is required."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.framework import Ask, Rows
from scheduler.model.columns import IntArray
from scheduler.model.jobs import DeviceKind
from scheduler.model.verdict import Cause

if TYPE_CHECKING:
    from scheduler.world import World


@dataclass(frozen=True)
class Links:
    """Where the kubelet chooses the devices, every choice it could make must do, or there must be only one."""

    cause: ClassVar[Cause] = Cause.LINKS
    fixed: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return ask.need.is_strict and ask.role.devices.kind == DeviceKind.WHOLE

    def room(self, world: World, ask: Ask, rows: Rows) -> IntArray:
        layout, free = world.layout, world.ledger.used.free[rows]
        lookup = layout.lookup(ask.need)
        slots = lookup.slots(layout.shape_of[rows], free)
        room: IntArray = lookup.times[slots].astype(np.int64)
        exact = layout.nodes.exact[rows]
        if exact.all():
            return room
        count = np.bitwise_count(free).astype(np.int64)
        any_will_do = np.where(lookup.always[slots], count // ask.need.count, 0)
        takes_all = np.where((count == ask.need.count) & (room > 0), 1, 0)
        return np.where(exact, room, np.maximum(any_will_do, takes_all))
