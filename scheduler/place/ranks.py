"""Ranks along the topology tree: domains stay contiguous at every level, so a ring crosses each border as seldom as can be."""

from __future__ import annotations

import numpy as np

from scheduler.model.columns import IntArray
from scheduler.model.nodes import Layout


def ring_order(layout: Layout, rows: IntArray, *, tail: int | None = None) -> IntArray:
    """Order of workers sitting on these node rows. Domains come as they first appear; the one that holds `tail` comes last."""
    keys = []
    for level in range(len(layout.levels)):
        domain = layout.group_of[level][rows]
        _, first, inverse = np.unique(domain, return_index=True, return_inverse=True)
        appears = first[inverse]
        if tail is not None:
            appears = np.where(domain == domain[tail], len(rows), appears)
        keys.append(appears)
    return np.lexsort((np.arange(len(rows)), *reversed(keys)))


def crossings(layout: Layout, rows: IntArray, level: int) -> int:
    """How often a ring over workers in this order crosses a border of the level."""
    domain = layout.group_of[level][rows]
    return int((domain != np.roll(domain, 1)).sum())
