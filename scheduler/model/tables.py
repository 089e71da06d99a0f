"""Per-shape device tables: from the mask of free GPUs to the set a worker should have. Built once, then only looked up.

The rule, in order: best link quality (all joined by NVLink, one PCIe switch, one NUMA node, across) · best rest (free GPUs per
NVLink group, compared from the largest; whole NUMA nodes; whole PCIe switches) · lowest index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from scheduler.model.columns import BoolArray, IntArray, MaskArray
from scheduler.model.hardware import LINK_NUMA, LINK_NVLINK, LINK_SWITCH, NodeShape, mask_of
from scheduler.model.resources import MAX_GPUS

QUALITY_NVLINK, QUALITY_SWITCH, QUALITY_NUMA, QUALITY_ACROSS = 100, 85, 75, 60
PREFERENCE_MET = 100
"""Added to the grade of a set that meets the preferred locality, so that it goes before any quality."""
_EAGER_GPUS = 8
_MAX_RANKED_GROUPS = 12
_BASE = MAX_GPUS + 1
_REST_BITS = 20


@dataclass(frozen=True, slots=True)
class DeviceNeed:
    """What one worker asks of a node's whole GPUs."""

    count: int
    required: frozenset[str] = frozenset()
    """Link classes that the set must have in common."""
    preferred: str = ""
    nic: bool = False
    """A NIC on the switch or NUMA node of one of them."""

    @property
    def is_strict(self) -> bool:
        return bool(self.required) or self.nic


class DeviceTable:
    """All answers for one shape and need, indexed by the mask of free GPUs.

    `chosen` is 0 where no set will do; `times` is how many workers find one. Shapes of more than eight GPUs are solved mask by
    mask as they are met.
    """

    def __init__(self, shape: NodeShape, need: DeviceNeed) -> None:
        size = 1 << shape.gpu_count
        self.shape, self.need = shape, need
        self.sets, self.set_grade, self.set_quality, self.set_valid = _graded_sets(shape, need)
        self.rest_rank = _rest_ranks(shape)
        self.chosen: MaskArray = np.zeros(size, dtype=np.uint32)
        self.grade: npt.NDArray[np.uint8] = np.zeros(size, dtype=np.uint8)
        self.quality: npt.NDArray[np.uint8] = np.zeros(size, dtype=np.uint8)
        self.times: npt.NDArray[np.uint8] = np.zeros(size, dtype=np.uint8)
        self.always: BoolArray = np.zeros(size, dtype=np.bool_)
        self.solved: BoolArray = np.zeros(size, dtype=np.bool_)
        self.is_lazy = shape.gpu_count > _EAGER_GPUS
        if not self.is_lazy:
            self.ensure(np.arange(size, dtype=np.uint32))
            if need.is_strict and 1 < need.count <= shape.gpu_count // 2:
                self._count_at_most()

    def ensure(self, masks: MaskArray) -> None:
        """Solve these masks and all that are left over when workers are placed one after another."""
        while len(masks := self._unsolved(masks)):
            for part in np.array_split(masks, max(1, len(masks) * len(self.sets) >> 20)):
                self._choose(part)
            rest = masks & ~self.chosen[masks]
            masks = rest[self.chosen[masks] > 0]
        pending = np.flatnonzero(self.solved & (self.times == 0) & (self.chosen > 0)).astype(np.uint32)
        self._count_times(pending)

    def _unsolved(self, masks: MaskArray) -> MaskArray:
        """Those not solved yet, each once."""
        wanted = np.zeros(len(self.solved), dtype=np.bool_)
        wanted[masks] = True
        return np.flatnonzero(wanted & ~self.solved).astype(np.uint32)

    def _choose(self, masks: MaskArray) -> None:
        """[masks, sets] compare every set inside every mask."""
        self.solved[masks] = True
        if not len(self.sets):
            return
        inside = (masks[:, None] & self.sets) == self.sets
        allowed = inside & self.set_valid
        rest = self.rest_rank[masks[:, None] & ~self.sets]
        score = np.where(allowed, (self.set_grade << _REST_BITS) + rest + 1, 0)
        best = score.argmax(axis=1)
        found = score[np.arange(len(masks)), best] > 0
        self.chosen[masks] = np.where(found, self.sets[best], 0)
        self.grade[masks] = np.where(found, self.set_grade[best], 0)
        self.quality[masks] = np.where(found, self.set_quality[best], 0)
        self.always[masks] = found & (inside == allowed).all(axis=1)

    def _count_times(self, masks: MaskArray) -> None:
        """How many workers find a set one after another, each the best."""
        left, counting = masks.copy(), self.chosen[masks] > 0
        while counting.any():
            self.times[masks[counting]] += 1
            left = left & ~self.chosen[left]
            counting = self.chosen[left] > 0

    def _count_at_most(self) -> None:
        """The best set for one worker may spoil it for the next (the only NIC's GPUs both go to one): `times` is then what
        other choices allow, and `leaving` makes them."""
        for mask in range(len(self.times)):
            sets = self.sets[((mask & self.sets) == self.sets) & self.set_valid]
            if len(sets):
                self.times[mask] = 1 + self.times[mask & ~sets].max()

    def leaving(self, free: int, more: int) -> tuple[int, int]:
        """The best set after which so many more workers find one, and its quality."""
        rest = np.uint32(free) & ~self.sets
        able = ((np.uint32(free) & self.sets) == self.sets) & self.set_valid & (self.times[rest] >= more)
        score = np.where(able, (self.set_grade << _REST_BITS) + self.rest_rank[rest] + 1, 0)
        best = int(score.argmax())
        return (int(self.sets[best]), int(self.set_quality[best])) if score[best] else (0, 0)


def _graded_sets(shape: NodeShape, need: DeviceNeed) -> tuple[MaskArray, IntArray, IntArray, BoolArray]:
    """Every set of `count` GPUs, lowest indices first: masks, grades, qualities, and whether it meets what is required."""
    masks = [mask_of(gpus) for gpus in combinations(range(shape.gpu_count), need.count)]
    sets = np.array(masks, dtype=np.uint32)
    has = {
        LINK_NVLINK: _within(sets, shape.nvlink_groups),
        LINK_SWITCH: _within(sets, shape.switch_groups),
        LINK_NUMA: _within(sets, shape.numa_groups),
    }
    if need.count == 1:
        has = dict.fromkeys(has, np.ones(len(sets), dtype=np.bool_))
    classes = [has[LINK_NVLINK], has[LINK_SWITCH], has[LINK_NUMA]]
    quality = np.select(classes, [QUALITY_NVLINK, QUALITY_SWITCH, QUALITY_NUMA], QUALITY_ACROSS).astype(np.int64)
    grade = quality + PREFERENCE_MET * has[need.preferred] if need.preferred else quality
    valid = np.ones(len(sets), dtype=np.bool_)
    for link in need.required:
        valid &= has[link]
    if need.nic:
        valid &= (sets & np.uint32(shape.nic_reach)) > 0
    return sets, grade, quality, valid


def _within(sets: MaskArray, groups: Sequence[int]) -> BoolArray:
    """Whether each set lies in one of the groups."""
    inside = np.zeros(len(sets), dtype=np.bool_)
    for group in groups:
        inside |= (sets & ~np.uint32(group)) == 0
    return inside


@lru_cache(maxsize=256)
def _rest_ranks(shape: NodeShape) -> IntArray:
    """[2^GPUs] rank of every mask as a rest: higher is better to leave behind."""
    masks = np.arange(1 << shape.gpu_count, dtype=np.uint32)
    counts = [np.bitwise_count(masks & np.uint32(group)).astype(np.int64) for group in shape.nvlink_groups]
    key = np.zeros(len(masks), dtype=np.int64)
    if counts:
        for column in np.sort(np.stack(counts), axis=0)[::-1][:_MAX_RANKED_GROUPS]:
            key = key * _BASE + column
    for groups in (shape.numa_groups, shape.switch_groups):
        key = key * _BASE + sum((masks & np.uint32(group)) == group for group in groups)
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


@lru_cache(maxsize=4096)
def table_of(shape: NodeShape, need: DeviceNeed) -> DeviceTable:
    """The table of a shape, shared by all nodes and all plans."""
    return DeviceTable(shape, need)


class Lookup:
    """The tables of several shapes side by side, so that nodes of different shapes are looked up in one go."""

    def __init__(self, shapes: Sequence[NodeShape], need: DeviceNeed) -> None:
        self.need = need
        self.tables = [table_of(shape, need) for shape in shapes]
        sizes = [len(table.chosen) for table in self.tables]
        self.offset: IntArray = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.lazy = [number for number, table in enumerate(self.tables) if table.is_lazy]
        self._join()

    def _join(self) -> None:
        self.chosen: MaskArray = np.concatenate([t.chosen for t in self.tables])
        self.grade: npt.NDArray[np.uint8] = np.concatenate([t.grade for t in self.tables])
        self.quality: npt.NDArray[np.uint8] = np.concatenate([t.quality for t in self.tables])
        self.times: npt.NDArray[np.uint8] = np.concatenate([t.times for t in self.tables])
        self.always: BoolArray = np.concatenate([t.always for t in self.tables])

    def slot(self, shape: int, free: int) -> int:
        """The same for one node."""
        if shape in self.lazy and not self.tables[shape].solved[free]:
            self.tables[shape].ensure(np.array([free], dtype=np.uint32))
            self._join()
        return int(self.offset[shape]) + free

    def slots(self, shape_of: IntArray, free: MaskArray) -> IntArray:
        """Positions in the joined arrays for nodes of these shapes with these GPUs free."""
        for number in self.lazy:
            masks = free[shape_of == number]
            table = self.tables[number]
            if not table.solved[masks].all():
                table.ensure(masks)
                self._join()
        return self.offset[shape_of] + free
