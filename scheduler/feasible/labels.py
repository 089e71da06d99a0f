"""Taints and node selectors: one look per distinct set of taints or labels, then a gather."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.framework import Ask, Rows
from scheduler.model.columns import IntArray
from scheduler.model.jobs import Toleration
from scheduler.model.nodes import Taint
from scheduler.model.verdict import Cause

if TYPE_CHECKING:
    from scheduler.world import World


@dataclass(frozen=True)
class Taints:
    """A node's NoSchedule and NoExecute taints must all be tolerated."""

    cause: ClassVar[Cause] = Cause.TAINT
    fixed: ClassVar[bool] = True

    def applies(self, ask: Ask) -> bool:
        return True

    def room(self, world: World, ask: Ask, rows: Rows) -> IntArray:
        sets, set_of = world.layout.taint_sets
        passes = [all(is_tolerated(taint, ask.shape.tolerations) for taint in taints) for taints in sets]
        return np.array(passes or [True], dtype=np.int64)[set_of[rows]]


@dataclass(frozen=True)
class Selector:
    """Every label the job names, with its value."""

    cause: ClassVar[Cause] = Cause.SELECTOR
    fixed: ClassVar[bool] = True

    def applies(self, ask: Ask) -> bool:
        return bool(ask.shape.selector)

    def room(self, world: World, ask: Ask, rows: Rows) -> IntArray:
        sets, set_of = world.layout.label_sets
        passes = [set(ask.shape.selector) <= set(labels) for labels in sets]
        return np.array(passes or [True], dtype=np.int64)[set_of[rows]]


def is_tolerated(taint: Taint, tolerations: tuple[Toleration, ...]) -> bool:
    """As in Kubernetes; PreferNoSchedule bars nobody."""
    return taint.effect == "PreferNoSchedule" or any(_matches(taint, one) for one in tolerations)


def _matches(taint: Taint, toleration: Toleration) -> bool:
    if toleration.effect not in {"", taint.effect}:
        return False
    if toleration.operator == "Exists":
        return toleration.key in {"", taint.key}
    return toleration.key == taint.key and toleration.value == taint.value
