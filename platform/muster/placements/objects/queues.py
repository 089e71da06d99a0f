"""Queues with their quota and totals in one cluster, subtree by subtree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.db.models import Count, Sum

from muster.placements.choices import HoldState
from muster.placements.models import DeviceHold
from muster.quotas.models import Queue, Quota
from muster.workloads.choices import FINAL_JOB_STATES, JobState
from muster.workloads.models import Job


def everything(cluster_id: int) -> list[dict[str, Any]]:
    """Every queue, parents before their children in order of creation."""
    rows = list(Queue.objects.select_related("tenant").order_by("id"))
    own = _own_totals(cluster_id)
    totals = _subtree_totals(rows, own)
    quotas = defaultdict(list)
    for quota in Quota.objects.filter(cluster_id=cluster_id).order_by("id"):
        quotas[quota.queue_id].append(quota)
    return [_object(queue, totals[queue.pk], quotas[queue.pk]) for queue in rows]


def read(cluster_id: int, ids: Iterable[int]) -> list[dict[str, Any]]:
    """These queues and all their ancestors: what happens in a queue shows in each of them."""
    objects = everything(cluster_id)
    parents = {thing["pk"]: thing["parent"] for thing in objects}
    wanted: set[int] = set()
    for pk in ids:
        at: int | None = pk
        while at is not None and at not in wanted:
            wanted.add(at)
            at = parents.get(at)
    return [thing for thing in objects if thing["pk"] in wanted]


Totals = dict[str, float]
ZERO: Totals = {"used": 0.0, "running": 0, "waiting": 0, "wanted": 0.0}


def _own_totals(cluster_id: int) -> dict[int, Totals]:
    totals: dict[int, Totals] = defaultdict(lambda: dict(ZERO))
    jobs = Job.objects.filter(cluster_id=cluster_id).exclude(state__in=FINAL_JOB_STATES).order_by()
    for row in jobs.values("queue_id", "state").annotate(n=Count("id"), gpus=Sum("gpus_wanted")):
        own = totals[row["queue_id"]]
        if row["state"] == JobState.QUEUED:
            own["waiting"] += row["n"]
            own["wanted"] += float(row["gpus"] or Decimal(0))
        elif row["state"] != JobState.HELD:
            own["running"] += row["n"]
    held = DeviceHold.objects.filter(gpu__node__cluster_id=cluster_id, state=HoldState.HELD).order_by()
    for queue_id, milli in held.values_list("worker__attempt__job__queue_id").annotate(sum=Sum("milli")):
        totals[queue_id]["used"] += milli / 1000
    return totals


def _subtree_totals(rows: list[Queue], own: dict[int, Totals]) -> dict[int, Totals]:
    """Each queue's totals with those of all its descendants."""
    totals = {queue.pk: dict(own.get(queue.pk, ZERO)) for queue in rows}
    parents = {queue.pk: queue.parent_id for queue in rows}
    for pk, parent in parents.items():
        at = parent
        while at is not None:
            for name in ZERO:
                totals[at][name] += own.get(pk, ZERO)[name]
            at = parents[at]
    return totals


def _object(queue: Queue, totals: Totals, quotas: list[Quota]) -> dict[str, Any]:
    return {
        "id": f"queue:{queue.pk}",
        "pk": queue.pk,
        "name": queue.name,
        "full_name": queue.full_name,
        "tenant": queue.tenant_id,
        "tenant_name": queue.tenant.name,
        "parent": queue.parent_id,
        "priority": queue.priority,
        "quotas": {
            quota.resource: {
                "guaranteed": quota.guaranteed,
                "limit": quota.limit,
                "borrow": quota.borrow,
                "lend": quota.lend,
                "weight": quota.weight,
            }
            for quota in quotas
        },
        **totals,
    }
