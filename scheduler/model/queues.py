"""Queues: the quota tree. There are few of them, so they are plain objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

NO_PARENT = -1


@dataclass(frozen=True, slots=True)
class Queue:
    """One queue with its quota on this cluster.

    Amounts are integers by resource name: GPU parts for ``gpu`` and ``gpu/MODEL``, millicores for ``cpu``, bytes for ``memory``
    (`resources.py`). What `guaranteed` and `limit` do not name is not governed by them.
    """

    key: int
    name: str
    parent: int = NO_PARENT
    guaranteed: Mapping[str, int] = field(default_factory=dict)
    limit: Mapping[str, int] = field(default_factory=dict)
    weight: int = 1
    priority: int = 0
    borrow: int | None = None
    """GPU parts above the guarantee."""
    lend: int | None = None
    """GPU parts of the unused guarantee that others may use."""
    usage: float = 0.0
    """Decayed GPU-hours already consumed."""
    preempt_within: bool = True
    reclaim: bool = True
