"""What the executor reports of a Placement on its way: created, bound, refused; and the logs it stored."""

from __future__ import annotations

from collections.abc import Mapping

from muster.placements.models import Placement
from muster.workloads.models import Worker


def record_created(placement: Placement, uids: Mapping[int, str]) -> None:
    """Note the uid of each pod accepted (worker pk → uid); once all have one the attempt is binding."""
    raise NotImplementedError


def record_bound(placement: Placement) -> None:
    """Every pod is bound: the start clock runs from here. Call `finish_intent` next."""
    raise NotImplementedError


def refuse_placement(placement: Placement, message: str, *, node_id: int | None = None) -> None:
    """The cluster refused something: the attempt is unwinding from here, `node_id` avoided for 15 minutes.

    The claim stays with the caller, who deletes owner and pods, then calls `finish_intent(placement, IntentState.UNDONE)`.
    The job is queued again, with back-off and this message, once every pod is seen gone.
    """
    raise NotImplementedError


def store_log(worker: Worker, *, name: str, size: int, is_cut: bool, last_lines: str) -> None:
    """Note where a worker's log lies (`name` in the log storage) and keep its last lines on the worker."""
    raise NotImplementedError
