"""Learns what people tend to ask for, and what that leaves of a GPU.

Two pure functions feed the `fragmentation` score of the core, once a day and outside it: the typical workload mix, and
the table φ, for which the core lacks a linear-programming solver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from scheduler.model.resources import MILLI_PER_GPU
from scheduler.score.frag.mix import TaskShape, WorkloadMix

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

COVER = 0.95
"""Part of all tasks that the typical shapes stand for."""
_TOLERANCE = 1e-9


def typical_mix(counts: Mapping[TaskShape, int], cover: float = COVER) -> WorkloadMix:
    """The most frequent shapes that together make up `cover` of all tasks, most frequent first, with their share."""
    wanted, seen, chosen = cover * sum(counts.values()), 0, []
    for shape, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if seen >= wanted:
            break
        chosen.append((shape, count))
        seen += count
    return tuple((shape, count / seen) for shape, count in chosen)


def usable_share(mix: WorkloadMix) -> FloatArray:
    """φ, [1001]: the most that efficient combinations of the mix's one-GPU tasks can use of a GPU with r milli left.

    Each size is worth its dual price in the cutting-stock linear program over the mix (as few GPUs as possible, each cut
    into whole tasks); a rest is worth the dearest combination that fits into it. A rest for which the mix has no good use
    is worth nothing, although a rare task would fit.
    """
    demand: dict[int, float] = {}
    for task, share in mix:
        if task.gpus == 1 and share > 0:
            demand[task.milli] = demand.get(task.milli, 0.0) + share
    if not demand:
        return np.arange(MILLI_PER_GPU + 1) / MILLI_PER_GPU
    sizes = np.array(sorted(demand), dtype=np.int64)
    prices = _dual_prices(sizes, np.array([demand[int(size)] for size in sizes]))
    return np.minimum(_best_values(sizes, prices)[0], 1.0)


def _dual_prices(sizes: IntArray, demand: FloatArray) -> FloatArray:
    """Price of one task of each size, in GPUs, by column generation: add the most profitable cut until none pays."""
    cuts: list[IntArray] = [
        np.eye(len(sizes), dtype=np.int64)[i] * (MILLI_PER_GPU // int(size)) for i, size in enumerate(sizes)
    ]
    while True:
        solved = linprog(np.ones(len(cuts)), A_ub=-np.array(cuts).T, b_ub=-demand, method="highs")
        prices = np.asarray(-solved.ineqlin.marginals, dtype=np.float64)
        values, last = _best_values(sizes, prices)
        if values[-1] <= 1 + _TOLERANCE:
            return prices
        cuts.append(_cut_of(sizes, last))


def _best_values(sizes: IntArray, prices: FloatArray) -> tuple[FloatArray, IntArray]:
    """Knapsack with repetition: [1001] best value within r milli, and the size used last there (-1: as for r - 1)."""
    values = np.zeros(MILLI_PER_GPU + 1)
    last = np.full(MILLI_PER_GPU + 1, -1, dtype=np.int64)
    for left in range(1, MILLI_PER_GPU + 1):
        values[left] = values[left - 1]
        for item, size in enumerate(sizes.tolist()):
            if size <= left and prices[item] + values[left - size] > values[left] + _TOLERANCE:
                values[left], last[left] = prices[item] + values[left - size], item
    return values, last


def _cut_of(sizes: IntArray, last: IntArray) -> IntArray:
    """How many tasks of each size the best combination for a whole GPU has."""
    cut, left = np.zeros(len(sizes), dtype=np.int64), MILLI_PER_GPU
    while left > 0:
        if last[left] < 0:
            left -= 1
        else:
            cut[last[left]] += 1
            left -= int(sizes[last[left]])
    return cut


def counted(tasks: Sequence[TaskShape]) -> dict[TaskShape, int]:
    """How often each shape occurs."""
    counts: dict[TaskShape, int] = {}
    for task in tasks:
        counts[task] = counts.get(task, 0) + 1
    return counts
