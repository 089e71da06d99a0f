"""Which levels of the topology a gang is tried on."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.model.jobs import JobShape, Want
from scheduler.model.nodes import Layout

CLUSTER = -1
"""The level outside all others: one domain that holds every node."""


def levels_to_try(shape: JobShape, levels: Sequence[str], counts: Sequence[int]) -> list[int]:
    """Positions of the levels, from the one asked for outward. A required level stands alone; `counts`: domains per level."""
    required = required_level(shape, levels)
    if required != CLUSTER:
        return [required]
    wanted = shape.topology.level
    start = levels.index(wanted) if wanted in levels else len(levels) - 1
    return [level for level in range(start, CLUSTER, -1) if counts[level]] + [CLUSTER]


def names_wider_level(shape: JobShape, levels: Sequence[str]) -> bool:
    """Whether a level outside host is asked for: then even a single worker goes to its tightest domain."""
    return shape.topology.level in levels[:-1]


def levels_inside(layout: Layout, level: int) -> list[int]:
    """Positions of the levels inside this one that have any domains, outermost first."""
    return [inner for inner in range(level + 1, len(layout.levels)) if layout.domain_count[inner]]


def required_level(shape: JobShape, levels: Sequence[str]) -> int:
    """Position of the level that must hold the whole gang, CLUSTER = none."""
    topology = shape.topology
    is_required = topology.want == Want.REQUIRED and topology.level in levels
    return levels.index(topology.level) if is_required else CLUSTER


def slice_level(shape: JobShape, levels: Sequence[str]) -> int:
    """Position of the level that each slice stays in, CLUSTER = no slices."""
    wanted = shape.topology.slice
    return levels.index(wanted.level) if wanted and wanted.level in levels else CLUSTER
