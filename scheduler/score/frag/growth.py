"""Fragmentation of nodes, and how much it would grow with one more worker. Vectorised over nodes and GPUs.

F is the free GPU amount that the mix cannot use (Weng et al., "Beware of Fragmentation", USENIX ATC 2023); M and waste
are the two terms by which F+ goes beyond it: what repeated tasks of a shape can really take from the node, and what
efficient combinations of shares can still use of each GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler.model.columns import BoolArray, FloatArray, IntArray
from scheduler.model.resources import MILLI_PER_GPU
from scheduler.score.frag.mix import PER_MILLION, TaskShape
from scheduler.score.frag.tables import Tables


@dataclass(frozen=True)
class Rest:
    """What is left on K nodes of at most G GPUs."""

    cpu: FloatArray
    """[K] millicores."""
    memory: FloatArray
    """[K] bytes."""
    left: IntArray
    """[K, G] milli-GPU; 1,000 = wholly free, 0 = nothing to give (in use whole, partitioned, unhealthy, absent)."""
    model: IntArray
    """[K] index of the GPU model; -1 = none."""

    def take(self, rows: IntArray) -> Rest:
        """These nodes only."""
        return Rest(self.cpu[rows], self.memory[rows], self.left[rows], self.model[rows])


@dataclass(frozen=True)
class _Sums:
    """Per row, sums over the node's GPUs of what the tables say."""

    free: FloatArray
    """[K] milli-GPU."""
    crumb: FloatArray
    """[K, M]"""
    shares: FloatArray
    """[K, M]"""
    waste: FloatArray
    """[K]"""

    @classmethod
    def over(cls, tables: Tables, left: IntArray) -> _Sums:
        return cls(
            free=left.sum(axis=1).astype(np.float64),
            crumb=tables.crumb[left].sum(axis=1),
            shares=tables.shares[left].sum(axis=1),
            waste=tables.waste[left].sum(axis=1),
        )

    def replaced(self, tables: Tables, rows: IntArray, old: IntArray, new: IntArray) -> _Sums:
        """For each candidate its row's sums, with one GPU's rest gone from `old` to `new`."""
        return _Sums(
            free=self.free[rows] - (old - new),
            crumb=self.crumb[rows] + (tables.crumb[new] - tables.crumb[old]),
            shares=self.shares[rows] + (tables.shares[new] - tables.shares[old]),
            waste=self.waste[rows] + (tables.waste[new] - tables.waste[old]),
        )

    def without_whole(self, tables: Tables, gpus: int) -> _Sums:
        """With this many wholly free GPUs gone."""
        full = MILLI_PER_GPU
        return _Sums(
            free=self.free - gpus * full,
            crumb=self.crumb - gpus * tables.crumb[full],
            shares=self.shares - gpus * tables.shares[full],
            waste=self.waste - gpus * tables.waste[full],
        )


@dataclass(frozen=True)
class Candidates:
    """Ways to place one worker: on node `row`, and for a share on its GPU `gpu` (-1 = lowest free ones)."""

    row: IntArray
    gpu: IntArray
    growth: FloatArray
    """Growth of F+ in milli-GPU; less is better."""


def fragmentation(tables: Tables, rest: Rest) -> FloatArray:
    """[K] F_n (with the terms of `tables`: F+_n) in milli-GPU."""
    return _value(tables, _room(tables, rest), _Sums.over(tables, rest.left))


def growth(tables: Tables, rest: Rest, task: TaskShape, gpu: IntArray | None = None) -> Candidates:
    """Ways to place `task` on nodes that can all take it, with the growth of fragmentation each would cause.

    `gpu`: [K] the GPU that a share would get on each node. Without it every GPU that a share fits on is a candidate,
    of several with equally much left the first.
    """
    sums = _Sums.over(tables, rest.left)
    before = _value(tables, _room(tables, rest), sums)
    room = _room(tables, Rest(rest.cpu - task.cpu, rest.memory - task.memory, rest.left, rest.model))
    everywhere = np.arange(len(before), dtype=np.int64)
    if not task.is_share:
        after = _value(tables, room, sums.without_whole(tables, task.gpus))
        return Candidates(everywhere, np.full(len(before), -1, dtype=np.int64), after - before)
    if gpu is None:
        rows, gpu = np.nonzero((rest.left >= task.milli) & ~_seen_before(rest.left))
    else:
        rows = everywhere
    old = rest.left[rows, gpu]
    after = _value(tables, room[rows], sums.replaced(tables, rows, old, old - task.milli))
    return Candidates(rows, gpu, after - before[rows])


def tightest(rest: Rest, task: TaskShape) -> IntArray:
    """[K] the GPU on which a share leaves least: shared ones before fresh ones, the lowest of equals."""
    fits = np.where(rest.left >= max(task.milli, 1), rest.left, MILLI_PER_GPU + 1)
    return np.asarray(fits.argmin(axis=1), dtype=np.int64)


def best_per_node(count: int, found: Candidates, steps: FloatArray) -> tuple[FloatArray, IntArray]:
    """[count] lowest step of each node (infinite where it has no candidate) and its GPU: the lowest of equal ones."""
    best = np.full(count, np.inf)
    gpu = np.full(count, -1, dtype=np.int64)
    order = np.lexsort((found.gpu, steps, found.row))
    rows, first = np.unique(found.row[order], return_index=True)
    best[rows], gpu[rows] = steps[order][first], found.gpu[order][first]
    return best, gpu


def in_steps(tables: Tables, found: Candidates) -> FloatArray:
    """Growth in whole steps. Exact scores scatter load over near-equal nodes and lose a point of allocation."""
    return np.asarray(np.floor(found.growth / tables.terms.step), dtype=np.float64)


def _room(tables: Tables, rest: Rest) -> FloatArray:
    """[K, M] how many tasks of each shape CPU, memory and model allow; 0 for tasks without GPUs."""
    mix = tables.mix
    room = _times(rest.cpu, mix.cpu)
    if mix.memory.any():
        room = np.minimum(room, _times(rest.memory, mix.memory))
    return room * mix.allowed_mask[rest.model]


def _times(amount: FloatArray, per_task: FloatArray) -> FloatArray:
    """[K, M] whole times `per_task` fits; tasks that need none fit without limit."""
    enough = np.floor(amount[:, None] / np.where(per_task > 0, per_task, 1.0))
    return np.where(per_task > 0, enough, PER_MILLION)


def _value(tables: Tables, room: FloatArray, sums: _Sums) -> FloatArray:
    """[K] F + beta * M + alpha * waste, in milli-GPU."""
    terms, mix = tables.terms, tables.mix
    times = np.minimum(np.floor(sums.shares / tables.ways), room)
    unusable = np.where(times >= 1, sums.crumb, sums.free[:, None])
    value: FloatArray = unusable @ mix.share
    if terms.beta:
        value = value + terms.beta * (sums.free * mix.demand.sum() - times @ tables.take)
    if terms.alpha:
        value = value + terms.alpha * sums.waste
    return value / PER_MILLION


def _seen_before(left: IntArray) -> BoolArray:
    """[K, G] GPUs with as much left as one of lower index on the same node."""
    seen = np.zeros(left.shape, dtype=bool)
    for gpu in range(1, left.shape[1]):
        seen[:, gpu] = (left[:, gpu, None] == left[:, :gpu]).any(axis=1)
    return seen
