"""QueueSort `priority`: queue priority, job priority, submission, registration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.columns import IntArray
from scheduler.model.verdict import Verdict

if TYPE_CHECKING:
    from scheduler.world import World


@dataclass(frozen=True)
class PriorityOrder:
    """One line for all queues. Names never count: equals go by key, which is the order of registration."""

    def open(self, world: World) -> FixedStream:
        waiting = world.snapshot.waiting
        priority = {queue.key: queue.priority for queue in world.snapshot.queues}
        queues, queue_of = np.unique(waiting.queue, return_inverse=True)
        of_queue = np.array([priority[key] for key in queues.tolist()] or [0], dtype=np.int64)[queue_of]
        return FixedStream(np.lexsort((waiting.key, waiting.submitted, -waiting.priority, -of_queue)))


class FixedStream:
    """Jobs in an order that no decision changes."""

    def __init__(self, rows: IntArray) -> None:
        self._rows = iter(rows.tolist())

    def next(self) -> int | None:
        return next(self._rows, None)

    def placed(self, row: int) -> None:
        """Changes nothing here."""

    def refused(self, row: int, verdict: Verdict) -> None:
        """Changes nothing here."""
