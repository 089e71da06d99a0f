"""Writing to the two outboxes, and the names of the live topics.

Call these inside the action's transaction. `on_commit` only rings a bell: rows are the work, messages are doorbells.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from muster.common import bells
from muster.common.models import Change, Event

OVERVIEW = "overview"


def map_topic(cluster_id: int) -> str:
    """Nodes, devices and their state in one cluster; shared by all members, so no names of jobs or users."""
    return f"cluster/{cluster_id}/map"


def fragmentation_topic(cluster_id: int) -> str:
    """How broken up the free GPUs of one cluster are; shared by all members."""
    return f"cluster/{cluster_id}/fragmentation"


def queues_topic(cluster_id: int) -> str:
    """Queues with their totals in one cluster; shared by all members."""
    return f"queues/{cluster_id}"


def jobs_topic(tenant_id: int) -> str:
    """The jobs of one tenant; its members only."""
    return f"tenant/{tenant_id}/jobs"


def job_topic(job_id: int) -> str:
    """One job with its workers and events; its tenant's members only."""
    return f"job/{job_id}"


def record_changes(cluster_id: int, kind: str, object_ids: Iterable[int]) -> None:
    """Tell the cluster's scheduler to read these rows again, and ring once the transaction is committed."""
    rows = [Change(cluster_id=cluster_id, kind=kind, object_id=pk) for pk in object_ids]
    if not rows:
        return
    Change.objects.bulk_create(rows)
    transaction.on_commit(lambda: bells.ring_cycle(cluster_id), robust=True)


def record_change(cluster_id: int, kind: str, object_id: int) -> None:
    """`record_changes` for one row."""
    record_changes(cluster_id, kind, [object_id])


def record_events(topic: str, kind: str, object_ids: Iterable[int], *, gone: bool = False) -> None:
    """Tell the pages that watch `topic` that these objects changed, or left it."""
    rows = [Event(topic=topic, kind=kind, object_id=pk, gone=gone) for pk in object_ids]
    if rows:
        Event.objects.bulk_create(rows)


def record_event(topic: str, kind: str, object_id: int, *, gone: bool = False) -> None:
    """`record_events` for one object."""
    record_events(topic, kind, [object_id], gone=gone)


def record_mixed_events(events: Iterable[tuple[str, str, int]]) -> None:
    """Many events of different topics in one statement: (topic, kind, object) each, told once however often it is given."""
    rows = [Event(topic=topic, kind=kind, object_id=pk) for topic, kind, pk in dict.fromkeys(events)]
    Event.objects.bulk_create(rows, batch_size=5000)
