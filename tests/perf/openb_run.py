"""One run of the openb protocol: tasks arrive one by one, none leaves, what does not fit is dropped."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from scheduler.model.columns import BoolArray, FloatArray, IntArray
from scheduler.model.resources import MILLI_PER_GPU
from scheduler.score.frag.growth import Rest
from scheduler.score.frag.mix import TaskShape
from scheduler.score.frag.tables import Terms
from tests.perf.openb_policies import Score, policies
from tests.perf.openb_trace import Machines, Trace, asked

WIDEST = 8


@dataclass
class Outcome:
    """What one seed gave. Arrived and allocated amounts are in percent of all GPUs."""

    allocated: dict[int, float] = field(default_factory=dict)
    """Per whole percent arrived."""
    first_refused: float = np.inf
    """Arrived percent when the first GPU task was refused."""
    first_refused_8: float = np.inf
    """The same for a task of eight GPUs."""
    microseconds: float = 0.0
    """Mean CPU time per decision, filters included: what else the machine does is not in it."""

    def note_refusal(self, task: TaskShape, arrived: float) -> None:
        """A GPU task found no place when `arrived` percent had come."""
        self.first_refused = min(self.first_refused, arrived)
        if task.gpus == WIDEST:
            self.first_refused_8 = min(self.first_refused_8, arrived)


@dataclass
class _Kept:
    """Scores of one task shape on all nodes, current as of `seen` bookings."""

    score: FloatArray
    gpu: IntArray
    seen: int


class Cluster:
    """Nodes under one fixed random renaming; ties go to the first in that order, or by lot where `lot` is given."""

    def __init__(self, machines: Machines, order: IntArray, score: Score, lot: np.random.Generator | None) -> None:
        self.model, self.models = machines.model[order], machines.models
        self.cpu = machines.cpu[order].astype(np.float64)
        self.memory = machines.memory[order].astype(np.float64)
        self.left = np.where(np.arange(WIDEST) < machines.gpus[order, None], MILLI_PER_GPU, 0)
        self.score, self.lot = score, lot
        self._kept: dict[TaskShape, _Kept] = {}
        self._touched: list[int] = []

    def place(self, task: TaskShape) -> bool:
        """Put the task on the node that scores best; False when it fits nowhere."""
        kept = self._current(task)
        best = int(kept.score.argmin())
        node = best if self.lot is None else int(self.lot.choice(np.flatnonzero(kept.score == kept.score[best])))
        if not np.isfinite(kept.score[node]):
            return False
        self.cpu[node] -= task.cpu
        self.memory[node] -= task.memory
        if task.is_share:
            gpu = kept.gpu[node] if self.lot is None else self.lot.choice(np.flatnonzero(self.left[node] >= task.milli))
            self.left[node, gpu] -= task.milli
        elif task.gpus:
            self.left[node, np.flatnonzero(self.left[node] == MILLI_PER_GPU)[: task.gpus]] = 0
        self._touched.append(node)
        return True

    def _current(self, task: TaskShape) -> _Kept:
        """The shape's scores, recomputed where something was booked since they were last looked at."""
        kept, count = self._kept.get(task), len(self.cpu)
        if kept is None:
            kept = self._kept[task] = _Kept(np.full(count, np.inf), np.zeros(count, dtype=np.int64), 0)
            rows = np.arange(count)
        else:
            rows = np.array(sorted(set(self._touched[kept.seen :])), dtype=np.int64)
        kept.seen = len(self._touched)
        if not len(rows):
            return kept
        kept.score[rows] = np.inf
        rows = rows[self._fits(task, rows)]
        if len(rows):
            rest = Rest(self.cpu[rows], self.memory[rows], self.left[rows], self.model[rows])
            kept.score[rows], kept.gpu[rows] = self.score(rest, task)
        return kept

    def _fits(self, task: TaskShape, rows: IntArray) -> BoolArray:
        fits = (self.cpu[rows] >= task.cpu) & (self.memory[rows] >= task.memory)
        if task.gpus:
            fits &= (self.left[rows] >= task.milli).sum(axis=1) >= task.gpus
        if task.models:
            fits &= np.isin(self.model[rows], [self.models.index(m) for m in task.models if m in self.models])
        return np.asarray(fits)


def run(trace: Trace, policy: str, seed: int, *, until: float = 1.3, terms: Terms | None = None) -> Outcome:
    """One seed of one policy."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(trace.machines))
    arrivals = list(trace.arrivals(rng, until))
    score = policies(trace, terms)[policy]
    cluster = Cluster(trace.machines, order, score, rng if policy == "random" else None)
    total, arrived, used, outcome = trace.machines.total_milli, 0, 0, Outcome()
    started = time.process_time()
    for task in arrivals:
        arrived += asked(task)
        if cluster.place(task):
            used += asked(task)
        elif task.gpus:
            outcome.note_refusal(task, 100 * arrived / total)
        outcome.allocated.setdefault(arrived * 100 // total, 100 * used / total)
    outcome.microseconds = (time.process_time() - started) / len(arrivals) * 1e6
    return outcome
