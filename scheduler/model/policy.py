"""How to decide: the policy of a cluster and the profile of plugins it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from scheduler.model.bandwidth import NOMINAL, Bandwidths


class Point(StrEnum):
    """Extension points, by the names of the Kubernetes Scheduling Framework."""

    QUEUE_SORT = "queueSort"
    PRE_FILTER = "preFilter"
    FILTER = "filter"
    POST_FILTER = "postFilter"
    PRE_SCORE = "preScore"
    SCORE = "score"
    RESERVE = "reserve"
    PERMIT = "permit"
    PRE_BIND = "preBind"
    BIND = "bind"
    POST_BIND = "postBind"


CORE_POINTS = tuple(Point)[:8]
"""Run by plan(); the other three by the executor."""


class PlacementPolicy(StrEnum):
    PACK = "pack"
    SPREAD = "spread"
    FRAGMENTATION = "fragmentation"


@dataclass(frozen=True)
class PluginUse:
    """One plugin at one point. `weight` counts only among score plugins of the same band."""

    name: str
    weight: int = 1
    args: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Profile:
    """The plugins of every point, in order."""

    name: str
    plugins: Mapping[Point, tuple[PluginUse, ...]]

    def at(self, point: Point) -> tuple[PluginUse, ...]:
        return self.plugins.get(point, ())


@dataclass(frozen=True)
class Policy:
    """What an administrator sets for a cluster. `profile` None = the default one of `scheduler.registry`."""

    placement: PlacementPolicy = PlacementPolicy.PACK
    backfill: bool = True
    preemption: bool = True
    profile: Profile | None = None
    bandwidths: Bandwidths = NOMINAL
    """What every link and level carries, for each placement's bottleneck."""
    mix: tuple[tuple[Any, float], ...] = ()
    """(task shape, popularity) pairs for the fragmentation score; empty = the jobs of the snapshot."""
