"""Fractions and memory shares of a GPU: a shared one first, the tightest that fits; a fresh one by the rule for single GPUs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scheduler.framework import Ask, Rows
from scheduler.model.columns import FloatArray, IntArray
from scheduler.model.jobs import DeviceKind, Want
from scheduler.model.nodes import Layout
from scheduler.model.occupancy import Occupancy
from scheduler.model.resources import MAX_GPUS, MILLI_PER_GPU
from scheduler.reserve.ledger import Pick

BITS = np.arange(MAX_GPUS, dtype=np.uint32)


class SharedGpus:
    def room(self, layout: Layout, used: Occupancy, ask: Ask, rows: Rows) -> IntArray:
        need = milli_of(ask)
        shared = _left(layout, used, ask, rows) // need
        fresh = np.bitwise_count(used.free[rows] & allowed(layout, ask, rows)).astype(np.int64)
        room: IntArray = shared.sum(axis=1, dtype=np.int64) + fresh * (MILLI_PER_GPU // need)
        return room

    def sharing(self, layout: Layout, used: Occupancy, ask: Ask, rows: Rows) -> FloatArray:
        need, left = milli_of(ask), _left(layout, used, ask, rows)
        tightest = np.where(left >= need, left, 2 * MILLI_PER_GPU).min(axis=1).astype(np.float64)
        score: FloatArray = np.where(tightest <= MILLI_PER_GPU, 100 - (tightest - need) / 10, 0.0)
        return score

    def pick(self, layout: Layout, used: Occupancy, ask: Ask, row: int, taken: int = 0) -> Pick | None:
        need, left = milli_of(ask), _left(layout, used, ask, np.array([row]))[0]
        fitting = np.where(left >= need, left, 2 * MILLI_PER_GPU)
        gpu = int(fitting.argmin())
        if fitting[gpu] > MILLI_PER_GPU:
            gpu = fresh_gpu(layout, used, ask, row)
        return Pick(DeviceKind.SHARE, 1 << gpu, milli=need) if gpu >= 0 else None


def milli_of(ask: Ask) -> int:
    """Thousandths of one GPU per worker."""
    if ask.model is None:
        raise ValueError("a share of a GPU needs a GPU model")
    return ask.role.devices.milli_on(ask.model)


def allowed(layout: Layout, ask: Ask, rows: Rows) -> npt.NDArray[np.uint32]:
    """GPUs that may be given: healthy, and near a NIC where one is required."""
    masks = layout.healthy_gpus[rows]
    return masks & layout.nic_reach[rows] if ask.shape.nic == Want.REQUIRED else masks


def allowed_bits(layout: Layout, ask: Ask, rows: Rows) -> npt.NDArray[np.bool_]:
    """[rows, 16] the same, GPU by GPU."""
    bits: npt.NDArray[np.bool_] = (allowed(layout, ask, rows)[:, None] >> BITS & 1).astype(np.bool_)
    return bits


def fresh_gpu(layout: Layout, used: Occupancy, ask: Ask, row: int) -> int:
    """The GPU that a one-GPU worker would get, -1 = none."""
    lookup = layout.lookup(ask.need)
    chosen = int(lookup.chosen[lookup.slot(int(layout.shape_of[row]), int(used.free[row]))])
    return chosen.bit_length() - 1


def _left(layout: Layout, used: Occupancy, ask: Ask, rows: Rows) -> npt.NDArray[np.int16]:
    """[rows, 16] thousandths left on GPUs that are shared already, 0 elsewhere."""
    shared = (used.kind[rows] == DeviceKind.SHARE) & allowed_bits(layout, ask, rows)
    left: npt.NDArray[np.int16] = np.where(shared, MILLI_PER_GPU - used.milli[rows], 0).astype(np.int16)
    return left
