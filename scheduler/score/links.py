"""Link quality: how well the best free GPU set of a node is joined. A gang's is that of its lowest worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.framework import Ask, Rows
from scheduler.model.columns import FloatArray
from scheduler.model.jobs import DeviceKind, Want
from scheduler.model.tables import PREFERENCE_MET
from scheduler.score.bands import FULL, Band

if TYPE_CHECKING:
    from scheduler.world import World

_SCALE = FULL / (PREFERENCE_MET + 100)


@dataclass(frozen=True)
class LinkQuality:
    """Counts for workers of two or more GPUs that care how they are joined."""

    band: ClassVar[Band] = Band.LINK
    per_count: ClassVar[bool] = True

    def applies(self, ask: Ask) -> bool:
        role = ask.role
        cares = role.gpu.nvlink != Want.ANY or ask.need.preferred != ""
        return role.devices.kind == DeviceKind.WHOLE and role.devices.count > 1 and cares

    def score(self, world: World, ask: Ask, rows: Rows, workers: int) -> FloatArray:
        layout = world.layout
        lookup = layout.lookup(ask.need)
        shapes, free = layout.shape_of[rows], world.ledger.used.free[rows]
        slots = lookup.slots(shapes, free)
        grade = lookup.grade[slots]
        for _ in range(workers - 1):
            free = free & ~lookup.chosen[slots]
            slots = lookup.slots(shapes, free)
            grade = np.minimum(grade, lookup.grade[slots])
        return grade.astype(np.float64) * _SCALE
