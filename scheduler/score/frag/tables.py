"""Lookup tables from what is left of one GPU (0..1,000 milli) to what each task of the mix can do with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler.model.columns import FloatArray
from scheduler.model.resources import MILLI_PER_GPU
from scheduler.score.frag.mix import PER_MILLION, Mix

LEFT_VALUES = MILLI_PER_GPU + 1


@dataclass(frozen=True)
class Terms:
    """How F+ is put together: F + beta * M + alpha * waste, compared in steps of `step` milli-GPU.

    Measured on the openb trace (`docs/benchmarks/openb.md`): finer steps fill the last tenth of a percent, but scatter
    load and refuse eight-GPU tasks early on some variants; coarser ones no longer tell good places from bad.
    """

    alpha: float = 20.0
    beta: float = 0.05
    step: int = 60


PLAIN_F = Terms(alpha=0.0, beta=0.0)
"""Fragmentation alone, as FGD measures it."""


@dataclass(frozen=True)
class Tables:
    """Everything the score looks up; built once per mix. Index 0 of the first three is the milli left on a GPU."""

    mix: Mix
    terms: Terms
    crumb: FloatArray
    """[1001, M] milli that are too few for one share of the task: the rest itself, or 0."""
    shares: FloatArray
    """[1001, M] how many times the task's share fits into the rest."""
    waste: FloatArray
    """[1001] millionths of a milli-GPU that no efficient combination of the mix's shares can use."""
    ways: FloatArray
    """[M] GPUs a task needs at once, at least 1 (a divisor)."""
    take: FloatArray
    """[M] milli-GPU of one task, weighted by its demand."""

    @classmethod
    def build(cls, mix: Mix, usable: FloatArray | None = None, terms: Terms | None = None) -> Tables:
        """`usable`: the table φ, [1001] share of a GPU that can still be used of each rest; None = all of it."""
        left = np.arange(LEFT_VALUES, dtype=np.float64)
        wants = mix.gpus > 0
        size = np.where(wants, mix.milli, LEFT_VALUES)
        value = left if usable is None else usable * MILLI_PER_GPU
        return cls(
            mix=mix,
            terms=terms or Terms(),
            crumb=np.where(left[:, None] < size, left[:, None], 0.0),
            shares=np.floor(left[:, None] / size) * wants,
            waste=np.rint((left - value) * PER_MILLION),
            ways=np.maximum(mix.gpus, 1.0),
            take=mix.demand * mix.gpus * mix.milli,
        )
