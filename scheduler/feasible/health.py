"""Nodes that are ready, not cordoned, and not avoided after a fault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.framework import Ask, Rows
from scheduler.model.columns import IntArray
from scheduler.model.verdict import Cause

if TYPE_CHECKING:
    from scheduler.world import World


@dataclass(frozen=True)
class Health:
    """Avoiding is only a preference: the engine asks without it where no other node matches (`place/gang.py`)."""

    cause: ClassVar[Cause] = Cause.HEALTH
    fixed: ClassVar[bool] = True

    def applies(self, ask: Ask) -> bool:
        return True

    def room(self, world: World, ask: Ask, rows: Rows) -> IntArray:
        layout = world.layout
        usable = np.ones_like(layout.usable[rows]) if world.is_pristine else layout.usable[rows]
        if ask.avoid:
            usable = usable & ~np.isin(layout.nodes.key[rows], list(ask.avoid))
        return usable.astype(np.int64)
