"""Balanced use of CPU, memory and GPUs, and images that are on the node already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.framework import Ask, Rows
from scheduler.model.columns import FloatArray, IntArray
from scheduler.score.bands import FULL, Band

if TYPE_CHECKING:
    from scheduler.world import World


@dataclass(frozen=True)
class Balanced:
    """Nodes whose used shares of CPU, memory and GPUs would be most alike with the worker on them."""

    band: ClassVar[Band] = Band.POLICY
    per_count: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return True

    def score(self, world: World, ask: Ask, rows: Rows, workers: int) -> FloatArray:
        layout, used, role = world.layout, world.ledger.used, ask.role
        gpus = layout.gpu_count[rows]
        free = np.bitwise_count(used.free[rows]).astype(np.int64) - role.devices.count
        shares = [
            _used(used.cpu[rows] - role.cpu, layout.nodes.cpu[rows]),
            _used(used.memory[rows] - role.memory, layout.nodes.memory[rows]),
        ]
        if gpus.any():
            shares.append(np.where(gpus > 0, _used(free, gpus), np.mean(shares, axis=0)))
        score: FloatArray = FULL * (1 - 2 * np.std(shares, axis=0))
        return score


@dataclass(frozen=True)
class ImageLocality:
    """Nodes that hold the role's image."""

    band: ClassVar[Band] = Band.POLICY
    per_count: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return bool(ask.role.image)

    def score(self, world: World, ask: Ask, rows: Rows, workers: int) -> FloatArray:
        sets, set_of = world.layout.image_sets
        return np.array([FULL * (ask.role.image in images) for images in sets] or [0.0])[set_of[rows]]


def _used(free: IntArray, total: IntArray) -> FloatArray:
    return 1 - free / np.maximum(total, 1)
