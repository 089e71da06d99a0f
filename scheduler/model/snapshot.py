"""Snapshot: the world a plan is made on. Immutable; a change makes a new one that shares what did not change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from scheduler.model.columns import Columns, IntArray
from scheduler.model.jobs import RunningJobs, WaitingJobs, Workers
from scheduler.model.nodes import Layout, Nodes
from scheduler.model.occupancy import Occupancy, occupy
from scheduler.model.queues import Queue

TABLES = ("nodes", "waiting", "running", "workers")
Table = TypeVar("Table", bound=Columns)
Derived = TypeVar("Derived")


@dataclass(frozen=True)
class Changes:
    """Rows that replace those of the same key, and keys that are gone. A job named anywhere leaves both job tables first.

    Workers belong to their job: give all of them again with each running job that changed.
    """

    nodes: Nodes | None = None
    gone_nodes: tuple[int, ...] = ()
    queues: tuple[Queue, ...] | None = None
    """All queues, if any of them changed."""
    waiting: WaitingJobs | None = None
    running: RunningJobs | None = None
    workers: Workers | None = None
    gone_jobs: tuple[int, ...] = ()


@dataclass(frozen=True)
class Snapshot:
    """One cluster at one instant, made from tables in any row order.

    `levels` are its network levels, outermost first, without nvlink_domain and host.
    """

    levels: tuple[str, ...]
    nodes: Nodes
    queues: tuple[Queue, ...]
    waiting: WaitingJobs
    running: RunningJobs
    workers: Workers

    def __post_init__(self) -> None:
        if self.nodes.domains.shape[1:] != (len(self.levels),):
            raise ValueError(f"domains must have {len(self.levels)} columns, one per level")
        for name in TABLES:
            object.__setattr__(self, name, _sorted(getattr(self, name)))
        in_order = tuple(sorted(self.queues, key=lambda queue: queue.key))
        if in_order != self.queues:
            object.__setattr__(self, "queues", in_order)

    @cached_property
    def layout(self) -> Layout:
        """Derived from the nodes; kept by `changed` as long as no node changes."""
        return Layout(self.nodes, self.levels)

    @cached_property
    def occupancy(self) -> Occupancy:
        """What is in use on each node."""
        return occupy(self.layout, self.running, self.workers)

    def derived(self, name: str, make: Callable[[Snapshot], Derived]) -> Derived:
        """A value made from this snapshot once and kept with it."""
        kept: dict[str, Any] = self.__dict__.setdefault("_derived", {})
        if name not in kept:
            kept[name] = make(self)
        found: Derived = kept[name]
        return found

    def changed(self, changes: Changes) -> Snapshot:
        """The same world with these rows replaced. Applying the same changes twice is harmless."""
        gone = _keys(changes.gone_jobs, changes.waiting, changes.running)
        has_jobs = bool(len(gone))
        after = replace(
            self,
            nodes=_merged(self.nodes, np.array(changes.gone_nodes, dtype=np.int64), changes.nodes),
            queues=self.queues if changes.queues is None else changes.queues,
            waiting=_merged(self.waiting, gone, changes.waiting) if has_jobs else self.waiting,
            running=_merged(self.running, gone, changes.running) if has_jobs else self.running,
            workers=_without_jobs(self.workers, gone, changes.workers) if has_jobs else self.workers,
        )
        if after.nodes is self.nodes:
            _keep(self, after, "layout")
            if after.workers is self.workers and after.running is self.running:
                _keep(self, after, "occupancy")
                if after.queues is self.queues:
                    _keep(self, after, "_derived")
        return after


def equal(a: Snapshot, b: Snapshot) -> bool:
    """Whether two snapshots hold the same world."""
    return not differences(a, b)


def differences(a: Snapshot, b: Snapshot) -> tuple[str, ...]:
    """Names of the tables in which two snapshots differ."""
    found = [name for name in TABLES if not getattr(a, name).equals(getattr(b, name))]
    found += [name for name in ("levels", "queues") if getattr(a, name) != getattr(b, name)]
    return tuple(found)


def _keep(before: Snapshot, after: Snapshot, name: str) -> None:
    """Carry a derived value over, if it was ever computed."""
    if name in before.__dict__:
        after.__dict__[name] = before.__dict__[name]


def _sorted(table: Table) -> Table:
    keys: IntArray = table.key  # type: ignore[attr-defined]
    if len(keys) < 2 or bool((keys[1:] > keys[:-1]).all()):
        return table
    order = np.argsort(keys, kind="stable")
    if (np.diff(keys[order]) == 0).any():
        raise ValueError(f"{type(table).__name__}: a key occurs twice")
    return table.take(order)


def _merged(table: Table, gone: IntArray, rows: Table | None) -> Table:
    """`table` without the keys in `gone` and those of `rows`, with `rows` at their places."""
    keys: IntArray = table.key  # type: ignore[attr-defined]
    out = gone if rows is None else np.concatenate((gone, rows.key))  # type: ignore[attr-defined]
    if not len(out):
        return table
    kept = ~np.isin(keys, out)
    left = table if kept.all() else table.take(kept)
    return left if rows is None else _sorted(left.concat(rows))


def _without_jobs(workers: Workers, gone: IntArray, rows: Workers | None) -> Workers:
    kept = ~np.isin(workers.job, gone)
    left = workers if kept.all() else workers.take(kept)
    return left if rows is None else _sorted(left.concat(rows))


def _keys(gone: tuple[int, ...], *tables: WaitingJobs | RunningJobs | None) -> IntArray:
    parts = [np.array(gone, dtype=np.int64), *(table.key for table in tables if table is not None)]
    return np.concatenate(parts)
