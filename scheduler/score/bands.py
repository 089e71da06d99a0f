"""Precedence of scores, in one table.

Each score plugin gives 0..100 and belongs to a band. Within a band scores add up by the profile's weights; between bands order
decides, whatever the weights: a band's points are shifted above everything that comes after it, into one 63-bit integer per node.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from scheduler.model.columns import FloatArray, IntArray

FULL = 100.0


class Band(Enum):
    """First to last. The value is the number of steps into which 0..100 is divided."""

    TOPOLOGY = 100
    """Domains the gang uses already."""
    SHARING = 1_000
    """Fractions and MIG instances on GPUs that are shared already."""
    PURPOSE = 1
    """CPU-only work away from nodes with GPUs."""
    LINK = 200
    """How the worker's GPUs are joined."""
    POLICY = 100_000
    """pack, spread, fragmentation, balanced, image locality."""
    LEFTOVER = 1_000_000
    """CPUs left idle."""

    @property
    def steps(self) -> int:
        return int(self.value)


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a band lies in the sort key."""

    factor: float
    """Steps per point of score."""
    shift: int

    def points(self, score: FloatArray) -> IntArray:
        """A band's part of the sort key. What lies outside 0..100 is cut off: no plugin reaches into another band."""
        steps = np.maximum(np.minimum(score, FULL), 0.0) * self.factor + 0.5
        whole: IntArray = steps.astype(np.int64)
        return whole << self.shift


def _scales() -> dict[Band, Scale]:
    scales, at = {}, 0
    for band in reversed(Band):
        scales[band] = Scale(band.steps / FULL, at)
        at += band.steps.bit_length()
    if at > 63:
        raise ValueError(f"the bands need {at} bits, a score has 63")
    return scales


SCALES: dict[Band, Scale] = _scales()
