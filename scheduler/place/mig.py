"""MIG instances: partitioned GPUs first, the fullest of them, at the start that leaves the largest profiles possible."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from scheduler.framework import Ask, Rows
from scheduler.model.columns import FloatArray, IntArray
from scheduler.model.instances import Instance, instance_of, instances_of
from scheduler.model.jobs import DeviceKind
from scheduler.model.occupancy import Site
from scheduler.place.share import allowed, allowed_bits, fresh_gpu
from scheduler.reserve.ledger import ALONE, Beside, Pick

_SLICES = 8
_NOWHERE = -1


class MigInstances:
    def room(self, site: Site, ask: Ask, rows: Rows) -> IntArray:
        starts = starts_of(*_wanted(ask))
        split = _partitioned(site, ask, rows)
        more = np.where(split, starts.times[site.used.slices[rows], site.used.compute[rows]], 0).sum(
            axis=1, dtype=np.int64
        )
        fresh = np.bitwise_count(site.used.free[rows] & allowed(site, ask, rows)).astype(np.int64)
        room: IntArray = more + fresh * int(starts.times[0, 0])
        return room

    def sharing(self, site: Site, ask: Ask, rows: Rows) -> FloatArray:
        fullest = _fullness(site, ask, rows).max(axis=1)
        score: FloatArray = np.maximum(fullest, 0).astype(np.float64)
        return score

    def pick(self, site: Site, ask: Ask, row: int, gang: Beside = ALONE) -> Pick | None:
        instance, starts = instance_named(ask), starts_of(*_wanted(ask))
        fullness = _fullness(site, ask, np.array([row]))[0]
        gpu = int(fullness.argmax())
        if fullness[gpu] <= 0:
            gpu = fresh_gpu(site, ask, row)
        if gpu < 0:
            return None
        start = int(starts.best[site.used.slices[row, gpu], site.used.compute[row, gpu]])
        return Pick(DeviceKind.MIG, 1 << gpu, start=start, slices=instance.mask_at(start), compute=instance.compute)


class Starts:
    """For one profile: [256, 8] by memory slices and compute slices in use, the best start and how many more fit."""

    def __init__(self, model: str, instance: Instance) -> None:
        self.best: npt.NDArray[np.int8] = np.full((1 << _SLICES, _SLICES), _NOWHERE, dtype=np.int8)
        self.times: npt.NDArray[np.uint8] = np.zeros((1 << _SLICES, _SLICES), dtype=np.uint8)
        profiles = instances_of(model)
        for slices in reversed(range(1 << _SLICES)):
            for compute in reversed(range(instance.total_compute + 1)):
                start = _best_start(profiles, instance, slices, compute)
                if start != _NOWHERE:
                    self.best[slices, compute] = start
                    after = slices | instance.mask_at(start), compute + instance.compute
                    self.times[slices, compute] = 1 + self.times[after]


@lru_cache(maxsize=256)
def starts_of(model: str, profile: str) -> Starts:
    """The table of a profile on a model; both must belong together."""
    instance = instance_of(model, profile)
    if instance is None:
        raise ValueError(f"{model} has no MIG profile {profile}")
    return Starts(model, instance)


def instance_named(ask: Ask) -> Instance:
    """The instance an ask wants, on its model."""
    model, profile = _wanted(ask)
    instance = instance_of(model, profile)
    if instance is None:
        raise ValueError(f"{model} has no MIG profile {profile}")
    return instance


def _best_start(profiles: tuple[Instance, ...], instance: Instance, slices: int, compute: int) -> int:
    """Of the free starts, the one after which the largest profiles are still possible; equal: the lowest."""
    free = [s for s in instance.starts if _fits(instance, s, slices, compute)]
    if not free:
        return _NOWHERE

    def still_possible(start: int) -> tuple[bool, ...]:
        after = slices | instance.mask_at(start)
        left = compute + instance.compute
        return tuple(any(_fits(other, s, after, left) for s in other.starts) for other in profiles)

    return max(free, key=lambda start: (still_possible(start), -start))


def _fits(instance: Instance, start: int, slices: int, compute: int) -> bool:
    return not slices & instance.mask_at(start) and compute + instance.compute <= instance.total_compute


def _wanted(ask: Ask) -> tuple[str, str]:
    if ask.model is None:
        raise ValueError("a MIG instance needs a GPU model")
    return ask.model.name, ask.role.devices.profile


def _partitioned(site: Site, ask: Ask, rows: Rows) -> npt.NDArray[np.bool_]:
    """[rows, 16] GPUs that hold MIG instances already and may be given."""
    split: npt.NDArray[np.bool_] = (site.used.kind[rows] == DeviceKind.MIG) & allowed_bits(site, ask, rows)
    return split


def _fullness(site: Site, ask: Ask, rows: Rows) -> npt.NDArray[np.int64]:
    """[rows, 16] slices in use of partitioned GPUs on which one more instance fits (compute first), 0 elsewhere."""
    starts = starts_of(*_wanted(ask))
    fits = _partitioned(site, ask, rows) & (starts.times[site.used.slices[rows], site.used.compute[rows]] > 0)
    amount = site.used.compute[rows].astype(np.int64) * (_SLICES + 1) + np.bitwise_count(site.used.slices[rows])
    return np.where(fits, amount, 0)
