"""GPU model and time slices, and the level a job requires to be in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.framework import Ask, Rows
from scheduler.model.columns import IntArray
from scheduler.model.jobs import DeviceKind, Want
from scheduler.model.verdict import Cause

if TYPE_CHECKING:
    from scheduler.world import World


@dataclass(frozen=True)
class Model:
    """Nodes whose GPUs are of the model that is being tried; time-sliced ones only for those who ask for slices."""

    cause: ClassVar[Cause] = Cause.MODEL
    fixed: ClassVar[bool] = True

    def applies(self, ask: Ask) -> bool:
        return ask.model is not None

    def room(self, world: World, ask: Ask, rows: Rows) -> IntArray:
        layout = world.layout
        number = layout.models.index(ask.model) if ask.model in layout.models else -2
        is_sliced = layout.nodes.replicas[rows] > 1
        wants_slice = ask.role.devices.kind == DeviceKind.SLICE
        room: IntArray = ((layout.model_of[rows] == number) & (is_sliced == wants_slice)).astype(np.int64)
        return room


@dataclass(frozen=True)
class Level:
    """Nodes that stand in a domain of every level that is required."""

    cause: ClassVar[Cause] = Cause.LEVEL
    fixed: ClassVar[bool] = True

    def applies(self, ask: Ask) -> bool:
        return bool(_required_levels(ask))

    def room(self, world: World, ask: Ask, rows: Rows) -> IntArray:
        layout = world.layout
        room = np.ones(len(layout.shape_of[rows]), dtype=np.int64)
        for level in _required_levels(ask):
            room *= layout.domain_of[layout.levels.index(level)][rows] >= 0 if level in layout.levels else 0
        return room


def _required_levels(ask: Ask) -> list[str]:
    topology = ask.shape.topology
    levels = [topology.level] if topology.want == Want.REQUIRED and topology.level else []
    return levels + ([topology.slice.level] if topology.slice else [])
