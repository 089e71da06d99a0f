"""Fractions and memory shares of a GPU: a shared one first, the tightest that fits; a fresh one by the rule for single GPUs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scheduler.framework import Ask, Rows
from scheduler.model.columns import FloatArray, IntArray
from scheduler.model.jobs import DeviceKind, Want
from scheduler.model.occupancy import Site
from scheduler.model.resources import MAX_GPUS, MILLI_PER_GPU
from scheduler.reserve.ledger import ALONE, Beside, Pick

BITS = np.arange(MAX_GPUS, dtype=np.uint32)


class SharedGpus:
    def room(self, site: Site, ask: Ask, rows: Rows) -> IntArray:
        need = milli_of(ask)
        shared = _left(site, ask, rows) // need
        fresh = np.bitwise_count(site.used.free[rows] & allowed(site, ask, rows)).astype(np.int64)
        room: IntArray = shared.sum(axis=1, dtype=np.int64) + fresh * (MILLI_PER_GPU // need)
        return room

    def sharing(self, site: Site, ask: Ask, rows: Rows) -> FloatArray:
        need, left = milli_of(ask), _left(site, ask, rows)
        tightest = np.where(left >= need, left, 2 * MILLI_PER_GPU).min(axis=1).astype(np.float64)
        score: FloatArray = np.where(tightest <= MILLI_PER_GPU, 100 - (tightest - need) / 10, 0.0)
        return score

    def pick(self, site: Site, ask: Ask, row: int, gang: Beside = ALONE) -> Pick | None:
        need, left = milli_of(ask), _left(site, ask, np.array([row]))[0]
        fitting = np.where(left >= need, left, 2 * MILLI_PER_GPU)
        gpu = int(fitting.argmin())
        if fitting[gpu] > MILLI_PER_GPU:
            gpu = fresh_gpu(site, ask, row)
        return Pick(DeviceKind.SHARE, 1 << gpu, milli=need) if gpu >= 0 else None


def milli_of(ask: Ask) -> int:
    """Thousandths of one GPU per worker."""
    if ask.model is None:
        raise ValueError("a share of a GPU needs a GPU model")
    return ask.role.devices.milli_on(ask.model)


def allowed(site: Site, ask: Ask, rows: Rows) -> npt.NDArray[np.uint32]:
    """GPUs that may be given: healthy, and near a NIC where one is required."""
    masks = site.used.ours[rows]
    return masks & site.layout.nic_reach[rows] if ask.shape.nic == Want.REQUIRED else masks


def allowed_bits(site: Site, ask: Ask, rows: Rows) -> npt.NDArray[np.bool_]:
    """[rows, 16] the same, GPU by GPU."""
    bits: npt.NDArray[np.bool_] = (allowed(site, ask, rows)[:, None] >> BITS & 1).astype(np.bool_)
    return bits


def fresh_gpu(site: Site, ask: Ask, row: int) -> int:
    """The GPU that a one-GPU worker would get, -1 = none."""
    lookup = site.layout.lookup(ask.need)
    chosen = int(lookup.chosen[lookup.slot(int(site.layout.shape_of[row]), int(site.used.free[row]))])
    return chosen.bit_length() - 1


def _left(site: Site, ask: Ask, rows: Rows) -> npt.NDArray[np.int16]:
    """[rows, 16] thousandths left on GPUs that are shared already, 0 elsewhere."""
    shared = (site.used.kind[rows] == DeviceKind.SHARE) & allowed_bits(site, ask, rows)
    left: npt.NDArray[np.int16] = np.where(shared, MILLI_PER_GPU - site.used.milli[rows], 0).astype(np.int16)
    return left
