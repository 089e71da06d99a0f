"""The map: nodes with their devices and who holds them, by opaque ids."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from muster.clusters.models import Gpu, Node
from muster.placements.choices import HoldState
from muster.placements.models import DeviceHold


def everything(cluster_id: int) -> list[dict[str, Any]]:
    """All nodes present in the cluster."""
    return _objects(Node.objects.filter(cluster_id=cluster_id, present=True))


def read(cluster_id: int, ids: Iterable[int]) -> list[dict[str, Any]]:
    """Those of these nodes that are present in the cluster."""
    return _objects(Node.objects.filter(cluster_id=cluster_id, present=True, pk__in=ids))


def _objects(nodes: QuerySet[Node]) -> list[dict[str, Any]]:
    holds = _holds(nodes)
    gpus: dict[int, list[dict[str, Any]]] = defaultdict(list)
    columns = ("id", "node_id", "index", "health", "health_reason", "others_pod", "numa", "switch", "flavor__name")
    for row in Gpu.objects.filter(node__in=nodes).order_by("node_id", "index").values(*columns):
        gpus[row["node_id"]].append(
            {
                "index": row["index"],
                "health": row["health"],
                "why": row["health_reason"],
                "others": bool(row["others_pod"]),
                "numa": row["numa"],
                "switch": row["switch"],
                "flavor": row["flavor__name"],
                "holds": holds.get(row["id"], []),
            }
        )
    return [_node(row, gpus[row["id"]]) for row in nodes.order_by("id").values(*NODE_COLUMNS)]


NODE_COLUMNS = ("id", "name", "ready", "cordoned", "domains", "nvlink_domain", "shape_id", "shape__name", "pool__name")


def _node(row: dict[str, Any], gpus: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"node:{row['id']}",
        "pk": row["id"],
        "name": row["name"],
        "ready": row["ready"],
        "cordoned": row["cordoned"],
        "domains": row["domains"],
        "nvlink_domain": row["nvlink_domain"],
        "shape": row["shape_id"],
        "shape_name": row["shape__name"],
        "pool": row["pool__name"],
        "gpus": gpus,
    }


def _holds(nodes: QuerySet[Node]) -> dict[int, list[dict[str, Any]]]:
    rows = (
        DeviceHold.objects.filter(gpu__node__in=nodes)
        .exclude(state=HoldState.RELEASED)
        .order_by("id")
        .values(
            "gpu_id",
            "kind",
            "milli",
            "profile",
            "state",
            "worker__attempt__job_id",
            "worker__attempt__job__tenant_id",
            "worker__attempt__job__queue_id",
            "worker__attempt__job__kind",
            "worker__attempt__job__state",
            "since",
        )
    )
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["gpu_id"]].append(
            {
                "kind": row["kind"],
                "milli": row["milli"],
                "profile": row["profile"],
                "state": row["state"],
                "job": row["worker__attempt__job_id"],
                "tenant": row["worker__attempt__job__tenant_id"],
                "queue": row["worker__attempt__job__queue_id"],
                "job_kind": row["worker__attempt__job__kind"],
                "job_state": row["worker__attempt__job__state"],
                "since": row["since"],
            }
        )
    return found
