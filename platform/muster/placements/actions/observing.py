"""The informer's only way to write what it saw of pods."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence

from muster.placements.actions.seen import OrphanSeen, WorkerSeen


def observe_workers(cluster_id: int, seen: Sequence[WorkerSeen]) -> set[int]:
    """Write one batch of observations (the last one of a worker wins), then settle the attempts that changed: their pks.

    A pod of another uid than the worker's own is not his and is ignored; columns that are equal are not written.
    """
    raise NotImplementedError


def attempts_without_pods(cluster_id: int, seen_uids: Collection[str], *, listed_at: dt.datetime) -> set[int]:
    """After a full list begun at `listed_at`: workers bound before it whose pod is not in it are gone; their attempts, settled."""
    raise NotImplementedError


def record_orphans(cluster_id: int, seen: Sequence[OrphanSeen]) -> int:
    """Order the deletion of objects of ours without a live attempt; how many are new."""
    raise NotImplementedError
