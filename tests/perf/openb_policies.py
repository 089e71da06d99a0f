"""Placement by one score alone, as the trace's authors replay it: ours, and those that show that the protocol is right.

Each policy gives every node a score (less is better) and a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from muster.cycle.mix import counted, typical_mix, usable_share
from scheduler.model.columns import FloatArray, IntArray
from scheduler.model.resources import MILLI_PER_GPU
from scheduler.score.frag.growth import Candidates, Rest, best_per_node, growth, in_steps, tightest
from scheduler.score.frag.mix import Mix, TaskShape
from scheduler.score.frag.tables import PLAIN_F, Tables, Terms
from tests.perf.openb_trace import Trace

Score = Callable[[Rest, TaskShape], tuple[FloatArray, IntArray]]
"""Nodes that can all take the task -> ([K] score, [K] GPU of a share)."""

MAX_CPU, MAX_GPU = 128_000, 8_000
"""Largest node, by which the trace's authors normalise best fit."""


def policies(trace: Trace, terms: Terms | None = None) -> dict[str, Score]:
    """By name; `random` likes all nodes alike and leaves the choice to random ties.

    The mix is the trace's typical tasks, CPU-only ones included, as its authors count them.
    """
    mix = typical_mix(counted([replace(task, memory=0) for task in trace.tasks]))
    columns = Mix.build(mix, trace.machines.models)
    plus = Tables.build(columns, usable_share(mix), terms)
    plain = Tables.build(columns, None, PLAIN_F)
    return {
        "random": lambda rest, task: (np.zeros(len(rest.cpu)), tightest(rest, task)),
        "bestfit": _best_fit,
        "fgd": lambda rest, task: _least(rest, growth(plain, rest, task), _as_published),
        "fragmentation": lambda rest, task: _fragmentation(plus, rest, task),
    }


def _fragmentation(tables: Tables, rest: Rest, task: TaskShape) -> tuple[FloatArray, IntArray]:
    """As the core's plugin: a share gets the tightest GPU of a node, and the node is chosen by what that does to it."""
    gpu = tightest(rest, task)
    return in_steps(tables, growth(tables, rest, task, gpu)), gpu


def _least(rest: Rest, found: Candidates, steps: Callable[[Candidates], FloatArray]) -> tuple[FloatArray, IntArray]:
    return best_per_node(len(rest.cpu), found, steps(found))


def _as_published(found: Candidates) -> FloatArray:
    """FGD's own rounding: a whole number from 0 to 100 of a sigmoid of the growth in GPUs, turned so that less is better."""
    return np.asarray(-np.floor(100 / (1 + np.exp(found.growth / MILLI_PER_GPU))), dtype=np.float64)


def _best_fit(rest: Rest, task: TaskShape) -> tuple[FloatArray, IntArray]:
    """Least CPU and GPU left over, in hundredths of the largest node: the control that the protocol is right."""
    over = (rest.cpu - task.cpu) / MAX_CPU * 0.5 + (_free(rest) - task.gpus * task.milli) / MAX_GPU * 0.5
    return -np.floor((1 - over) * 100), tightest(rest, task)


def _free(rest: Rest) -> FloatArray:
    return rest.left.sum(axis=1).astype(np.float64)
