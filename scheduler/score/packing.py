"""Fullest or emptiest node first, and the CPUs that would be left idle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.framework import Ask, Rows
from scheduler.model.columns import FloatArray
from scheduler.model.jobs import DeviceKind
from scheduler.model.resources import MAX_GPUS
from scheduler.place.devices import rule_of
from scheduler.score.bands import FULL, Band

if TYPE_CHECKING:
    from scheduler.world import World

_PER_GPU = FULL / MAX_GPUS
_PER_MILLICORE = FULL / Band.LEFTOVER.steps
"""One step per millicore: up to a thousand cores are told apart exactly."""


@dataclass(frozen=True)
class Pack:
    """Fewest free GPUs first."""

    band: ClassVar[Band] = Band.POLICY
    per_count: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return True

    def score(self, world: World, ask: Ask, rows: Rows, workers: int) -> FloatArray:
        return FULL - np.bitwise_count(world.ledger.used.free[rows]) * _PER_GPU


@dataclass(frozen=True)
class Spread:
    """Most free GPUs first."""

    band: ClassVar[Band] = Band.POLICY
    per_count: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return True

    def score(self, world: World, ask: Ask, rows: Rows, workers: int) -> FloatArray:
        return np.bitwise_count(world.ledger.used.free[rows]) * _PER_GPU


@dataclass(frozen=True)
class IdleCpu:
    """Fewest free CPUs first, or most: `most` goes with spread."""

    most: bool = False
    band: ClassVar[Band] = Band.LEFTOVER
    per_count: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return True

    def score(self, world: World, ask: Ask, rows: Rows, workers: int) -> FloatArray:
        free = world.ledger.used.cpu[rows].astype(np.float64) * _PER_MILLICORE
        return free if self.most else FULL - free


@dataclass(frozen=True)
class Sharing:
    """Parts of a GPU go to one that is shared already, the tightest or fullest first, before a fresh one anywhere."""

    band: ClassVar[Band] = Band.SHARING
    per_count: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return ask.role.devices.kind > DeviceKind.WHOLE

    def score(self, world: World, ask: Ask, rows: Rows, workers: int) -> FloatArray:
        return rule_of(ask).sharing(world.site, ask, rows)


@dataclass(frozen=True)
class SpareGpuNodes:
    """Workers without GPUs go where there are none."""

    band: ClassVar[Band] = Band.PURPOSE
    per_count: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return ask.role.devices.kind == DeviceKind.NONE

    def score(self, world: World, ask: Ask, rows: Rows, workers: int) -> FloatArray:
        return np.where(world.layout.gpu_count[rows] == 0, FULL, 0.0)
