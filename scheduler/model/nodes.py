"""Nodes: the table as it is loaded, and what is derived from it once and kept while no node changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from scheduler.model.columns import BoolArray, Columns, IntArray, MaskArray, ObjectArray
from scheduler.model.hardware import GpuModel, NodeShape
from scheduler.model.tables import DeviceNeed, Lookup

HOST, NVLINK_DOMAIN = "host", "nvlink_domain"
Kept = TypeVar("Kept")
_MOST_KEPT = 8_192
"""Then everything is made anew: job shapes come and go, nodes may stay the same for weeks."""


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str = ""
    effect: str = "NoSchedule"


@dataclass(frozen=True)
class Nodes(Columns):
    """All nodes, one row each, by key. N rows, L levels."""

    key: IntArray
    name: ObjectArray
    shape: ObjectArray
    """NodeShape; nodes wired alike should share the object."""
    cpu: IntArray
    """Allocatable millicores."""
    memory: IntArray
    """Allocatable bytes."""
    domains: IntArray
    """[N, L] key of the node's domain per level, outermost first; -1 = none."""
    nvlink_domain: IntArray
    """Key of its multi-node NVLink domain; -1 = none."""
    labels: ObjectArray
    """tuple of sorted (key, value) pairs."""
    taints: ObjectArray
    """tuple of Taint."""
    ready: BoolArray
    cordoned: BoolArray
    unhealthy: MaskArray
    """GPUs that must not be used (broken, or dirty)."""
    others_gpus: MaskArray
    """GPUs held by pods that are not ours."""
    others_cpu: IntArray
    others_memory: IntArray
    replicas: IntArray
    """Replicas of each time-sliced GPU; 1 = not time-sliced."""
    exact: BoolArray
    """The devices planned are the devices used; False: the kubelet chooses."""
    images: ObjectArray
    """frozenset of image names that are on the node."""


class Layout:
    """What follows from the nodes' fixed facts: shapes, models, masks and domains as dense indices. Read-only."""

    def __init__(self, nodes: Nodes, levels: tuple[str, ...]) -> None:
        self.nodes, self.levels = nodes, (*levels, NVLINK_DOMAIN, HOST)
        shapes, self.shape_of = distinct(nodes.shape)
        self.shapes: tuple[NodeShape, ...] = tuple(shapes)
        self.models: tuple[GpuModel, ...] = tuple(dict.fromkeys(s.model for s in self.shapes if s.model))
        numbers = [self.models.index(s.model) if s.model else -1 for s in self.shapes]
        self.model_of: IntArray = _per_shape(numbers, self.shape_of)
        self.gpu_count: IntArray = _per_shape([s.gpu_count for s in self.shapes], self.shape_of)
        self.all_gpus: MaskArray = _per_shape([s.all_gpus for s in self.shapes], self.shape_of).astype(np.uint32)
        self.kept: dict[Hashable, Any] = {}
        """What `keep` holds."""

    def keep(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """A value that follows from nodes alone (masks, tables, possibility), made once while no node changes."""
        if key not in self.kept:
            if len(self.kept) >= _MOST_KEPT:
                self.kept.clear()
            self.kept[key] = make()
        found: Kept = self.kept[key]
        return found

    def lookup(self, need: DeviceNeed) -> Lookup:
        """Device tables of all shapes for this need."""
        return self.keep(need, lambda: Lookup(self.shapes, need))

    @property
    def host_level(self) -> int:
        """Position of the innermost level."""
        return len(self.levels) - 1

    @cached_property
    def label_sets(self) -> tuple[list[Any], IntArray]:
        return distinct(self.nodes.labels)

    @cached_property
    def taint_sets(self) -> tuple[list[Any], IntArray]:
        return distinct(self.nodes.taints)

    @cached_property
    def image_sets(self) -> tuple[list[Any], IntArray]:
        return distinct(self.nodes.images)

    @cached_property
    def domain_of(self) -> npt.NDArray[np.int64]:
        """[levels + 2, N] dense domain number per level (the levels, nvlink_domain, host), -1 = none.

        Numbers follow registration order. A domain is told apart by its path, so that rack r0 of two blocks is two racks.
        """
        count = len(self.nodes)
        rows: list[IntArray] = []
        for level in range(len(self.levels) - 2):
            rows.append(_dense(self.nodes.domains[:, level], rows[-1] if rows else None))
        rows.append(_dense(self.nodes.nvlink_domain, None))
        rows.append(np.arange(count, dtype=np.int64))
        return np.stack(rows) if count else np.zeros((len(rows), 0), dtype=np.int64)

    @cached_property
    def group_of(self) -> npt.NDArray[np.int64]:
        """[levels + 2, N] the same with every node that is in no domain as a group of its own, after the domains."""
        groups = self.domain_of.copy()
        for row, count in zip(groups, self.domain_count, strict=True):
            alone = row < 0
            row[alone] = count + np.arange(int(alone.sum()))
        return groups

    def domain_rows(self, level: int, domain: int) -> IntArray:
        """Rows of the nodes in a domain; level -1 is the whole cluster."""
        if level < 0:
            return np.arange(len(self.nodes))
        order, starts = self._members[level]
        return order[starts[domain] : starts[domain + 1]]

    @cached_property
    def _members(self) -> list[tuple[IntArray, IntArray]]:
        members = []
        for row, count in zip(self.domain_of, self.domain_count, strict=True):
            order = np.argsort(row, kind="stable")
            members.append((order, np.searchsorted(row[order], np.arange(count + 1))))
        return members

    @cached_property
    def domain_count(self) -> tuple[int, ...]:
        """Number of domains per level."""
        return tuple(int(row.max(initial=-1)) + 1 for row in self.domain_of)

    @cached_property
    def nic_reach(self) -> MaskArray:
        """Masks of the GPUs with a NIC on their switch or NUMA node."""
        return _per_shape([s.nic_reach for s in self.shapes], self.shape_of).astype(np.uint32)

    @cached_property
    def fewest_replicas(self) -> int:
        """Into how many replicas a time-sliced GPU is divided at least; quotas count one replica as that part."""
        sliced = self.nodes.replicas[self.nodes.replicas > 1]
        return int(sliced.min()) if len(sliced) else 1

    @cached_property
    def usable(self) -> BoolArray:
        """Nodes that may take new work at all."""
        return self.nodes.ready & ~self.nodes.cordoned

    @cached_property
    def healthy_gpus(self) -> MaskArray:
        """Masks of the GPUs that are ours to give."""
        return self.all_gpus & ~self.nodes.unhealthy & ~self.nodes.others_gpus


def distinct(column: ObjectArray) -> tuple[list[Any], IntArray]:
    """Different values of an object column in order of appearance, and each row's number among them.

    Works by identity first (one pass over ids), so that a few shared objects in many rows cost next to nothing.
    """
    ids = np.fromiter(map(id, column), dtype=np.int64, count=len(column))
    unique, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    numbers: dict[Hashable, int] = {}
    number_of = np.zeros(len(unique), dtype=np.int64)
    for slot in np.argsort(first, kind="stable"):
        number_of[slot] = numbers.setdefault(column[first[slot]], len(numbers))
    return list(numbers), number_of[inverse] if len(column) else np.zeros(0, dtype=np.int64)


def _per_shape(values: list[int], shape_of: IntArray) -> IntArray:
    return np.array(values or [0], dtype=np.int64)[shape_of]


def _dense(keys: IntArray, parent: IntArray | None) -> IntArray:
    """Number the (parent, key) pairs by first appearance; a key of -1 stays -1."""
    pairs = np.stack((keys if parent is None else parent, keys), axis=1)
    _, first, inverse = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    wanted = keys[first] >= 0
    number = np.full(len(first), -1, dtype=np.int64)
    order = np.flatnonzero(wanted)[np.argsort(first[wanted], kind="stable")]
    number[order] = np.arange(len(order))
    return number[inverse.reshape(-1)]
