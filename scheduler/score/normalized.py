"""NormalizeScore: a score plugin that brings its raw figures to 0..100 itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scheduler.framework import Ask, Rows, Score
from scheduler.model.columns import FloatArray
from scheduler.score.bands import Band

if TYPE_CHECKING:
    from scheduler.world import World


@dataclass(frozen=True)
class Normalized:
    """A plugin whose `normalize` runs right after its `score`."""

    plugin: Any

    @property
    def band(self) -> Band:
        band: Band = self.plugin.band
        return band

    @property
    def per_count(self) -> bool:
        return bool(self.plugin.per_count)

    def applies(self, ask: Ask) -> bool:
        return bool(self.plugin.applies(ask))

    def score(self, world: World, ask: Ask, rows: Rows, workers: int) -> FloatArray:
        scores: FloatArray = self.plugin.normalize(self.plugin.score(world, ask, rows, workers))
        return scores


def normalized(plugin: Any) -> Score:
    """The plugin, with its normalization where it has one."""
    score: Score = Normalized(plugin) if hasattr(plugin, "normalize") else plugin
    return score
