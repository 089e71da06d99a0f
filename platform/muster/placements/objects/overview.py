"""One object per cluster: its figures. Unknown is null, never 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Case, Count, DecimalField, F, Q, QuerySet, Sum, Value, When

from muster.clusters.choices import Health
from muster.clusters.models import Cluster, ClusterStatus, Gpu, Node
from muster.placements.choices import HoldKind, HoldState
from muster.placements.models import DeviceHold
from muster.workloads.choices import FINAL_JOB_STATES
from muster.workloads.models import Job


def everything(_key: int) -> list[dict[str, Any]]:
    """Every enabled cluster's figures."""
    return _objects(Cluster.objects.filter(enabled=True))


def read(_key: int, ids: Iterable[int]) -> list[dict[str, Any]]:
    """The figures of these clusters, as far as they are enabled."""
    return _objects(Cluster.objects.filter(enabled=True, pk__in=ids))


def _objects(clusters: QuerySet[Cluster]) -> list[dict[str, Any]]:
    return [_figures(cluster) for cluster in clusters.order_by("id")]


def _figures(cluster: Cluster) -> dict[str, Any]:
    status = ClusterStatus.objects.filter(cluster=cluster).first()
    jobs = dict(
        Job.objects.filter(cluster=cluster)
        .exclude(state__in=FINAL_JOB_STATES)
        .values_list("state")
        .annotate(n=Count("id"))
        .order_by("state")
    )
    return {
        "id": f"cluster:{cluster.pk}",
        "pk": cluster.pk,
        "name": cluster.name,
        "title": cluster.title,
        "is_reachable": status.is_reachable if status else None,
        "since": status.since if status else None,
        "message": status.message if status else "",
        "gpus": _gpu_figures(cluster),
        "nodes": Node.objects.filter(cluster=cluster, present=True).aggregate(
            total=Count("id"), ready=Count("id", filter=Q(ready=True, cordoned=False))
        ),
        "jobs": jobs,
    }


def _gpu_figures(cluster: Cluster) -> dict[str, Any] | None:
    """GPUs in all, ready (given out if free), bad, and how much of them is held; null before the first look."""
    usable = Q(health=Health.OK, node__ready=True, node__cordoned=False)
    figures = Gpu.objects.filter(node__cluster=cluster, node__present=True).aggregate(
        total=Count("id"),
        ready=Count("id", filter=usable),
        bad=Count("id", filter=~Q(health=Health.OK) | Q(node__ready=False)),
        others=Count("id", filter=~Q(others_pod="")),
    )
    if not figures["total"]:
        return None
    live = DeviceHold.objects.filter(gpu__node__cluster=cluster, state=HoldState.HELD)
    milli = Case(When(kind=HoldKind.WHOLE, then=Value(1000)), default=F("milli"), output_field=DecimalField())
    held = live.aggregate(milli=Sum(milli), gpus=Count("gpu", distinct=True))
    return {**figures, "allocated": float(held["milli"] or 0) / 1000, "used": held["gpus"]}
