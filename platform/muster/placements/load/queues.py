"""The quota tree of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muster.placements.load.sql import fetch
from scheduler.model.queues import NO_PARENT, Queue
from scheduler.model.resources import GPU, PARTS_PER_GPU

_QUEUES = """
    SELECT q.id, q.sched_rev, t.name || '/' || q.name, coalesce(q.parent_id, %(no_parent)s), q.priority,
           q.preempt_within, q.reclaim
      FROM quotas_queue q JOIN accounts_tenant t ON t.id = q.tenant_id ORDER BY q.id"""
_QUOTAS = """
    SELECT queue_id, resource, guaranteed, "limit", borrow, lend, weight
      FROM quotas_quota WHERE cluster_id = %(cluster)s ORDER BY id"""

QuotaRow = tuple[str, int, int | None, int | None, int | None, int]


def load_queues(cluster_id: int) -> tuple[tuple[Queue, ...], dict[int, int]]:
    """All queues with their quotas in this cluster; and the revision of each as read."""
    quotas: dict[int, list[QuotaRow]] = {}
    for queue_id, *quota in fetch(_QUOTAS, {"cluster": cluster_id}):
        quotas.setdefault(queue_id, []).append(tuple(quota))  # type: ignore[arg-type]
    rows = fetch(_QUEUES, {"no_parent": NO_PARENT})
    queues = tuple(
        Queue(
            key=key,
            name=name,
            parent=parent,
            priority=priority,
            preempt_within=preempt_within,
            reclaim=reclaim,
            **_terms(quotas.get(key, ())),
        )
        for key, _, name, parent, priority, preempt_within, reclaim in rows
    )
    return queues, {row[0]: row[1] for row in rows}


def _terms(quotas: Iterable[QuotaRow]) -> Mapping[str, Any]:
    """Amounts in the core's units. A guarantee of zero names nothing; weight, borrow and lend are those of GPUs."""
    terms: dict[str, Any] = {"guaranteed": {}, "limit": {}}
    for resource, guaranteed, limit, borrow, lend, weight in quotas:
        if guaranteed:
            terms["guaranteed"][resource] = _amount(resource, guaranteed)
        if limit is not None:
            terms["limit"][resource] = _amount(resource, limit)
        if resource == GPU:
            terms["weight"] = weight
            terms["borrow"] = None if borrow is None else _amount(resource, borrow)
            terms["lend"] = None if lend is None else _amount(resource, lend)
    return terms


def _amount(resource: str, stored: int) -> int:
    """Quotas are stored in whole GPUs, millicores and bytes."""
    return stored * PARTS_PER_GPU if resource == GPU or resource.startswith(f"{GPU}/") else stored
