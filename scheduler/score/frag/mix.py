"""The workload mix: what tends to be asked for, as arrays.

Fragmentation is relative to it: a GPU share that nobody in the mix can use is a fragment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduler.model.columns import BoolArray, FloatArray
from scheduler.model.resources import MILLI_PER_GPU

PER_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, order=True)
class TaskShape:
    """What one worker asks for. `milli` is taken of each of `gpus` GPUs; `models` empty = any model.

    Only a worker with one GPU may take less than 1,000 milli of it.
    """

    gpus: int = 0
    milli: int = MILLI_PER_GPU
    cpu: int = 0
    """Millicores."""
    memory: int = 0
    """Bytes."""
    models: tuple[str, ...] = ()

    @property
    def is_share(self) -> bool:
        """Takes a part of one GPU."""
        return self.gpus == 1 and self.milli < MILLI_PER_GPU


WorkloadMix = tuple[tuple[TaskShape, float], ...]
"""Task shapes with their popularity; popularities are renormalised where they are used."""


@dataclass(frozen=True)
class Mix:
    """A workload mix over V GPU models as columns of M tasks.

    Popularities are whole millionths, so that sums over tasks are exact in float64 and do not depend on how many rows
    are summed at a time: a score recomputed for one node equals the one computed for all.
    """

    cpu: FloatArray
    """[M] millicores."""
    memory: FloatArray
    """[M] bytes."""
    gpus: FloatArray
    """[M] GPUs, 0 for a task without."""
    milli: FloatArray
    """[M] thousandths of each GPU."""
    share: FloatArray
    """[M] popularity in millionths."""
    demand: FloatArray
    """[M] popularity weighted by the GPUs a task occupies, in millionths."""
    allowed_mask: BoolArray
    """[V + 1, M] tasks that want GPUs and accept the model; the last row (model -1) is a node without GPUs."""

    @classmethod
    def build(cls, tasks: WorkloadMix, models: Sequence[str]) -> Mix:
        """Columns of `tasks` for a cluster with these GPU models."""
        shapes = [task for task, _ in tasks]
        share = np.array([popularity for _, popularity in tasks], dtype=np.float64)
        gpus = np.array([task.gpus for task in shapes], dtype=np.float64)
        return cls(
            cpu=np.array([task.cpu for task in shapes], dtype=np.float64),
            memory=np.array([task.memory for task in shapes], dtype=np.float64),
            gpus=gpus,
            milli=np.array([task.milli if task.gpus else 0 for task in shapes], dtype=np.float64),
            share=_millionths(share),
            demand=_millionths(share * gpus),
            allowed_mask=np.array(
                [[_accepts(task, model) for task in shapes] for model in (*models, None)], dtype=bool
            ),
        )


def _accepts(task: TaskShape, model: str | None) -> bool:
    return task.gpus > 0 and model is not None and (not task.models or model in task.models)


def _millionths(weights: FloatArray) -> FloatArray:
    total = float(weights.sum())
    normal = weights / total if total else weights
    return np.asarray(np.rint(normal * PER_MILLION), dtype=np.float64)
