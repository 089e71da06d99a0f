"""A cluster's nodes, one node with its wiring, and what the map needs besides the nodes themselves."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.urls import reverse

from muster.accounts.standing import Standing
from muster.clusters.models import Cluster, HardwareShape, Node
from muster.clusters.queries import visible_nodes
from muster.placements.objects import overview as figures
from muster.placements.objects import world
from muster.placements.queries import open_orders, with_usage, workers_on
from muster.quotas.queries import visible_queues
from muster.web.reading.pages import base_of, read_page
from muster.workloads.choices import ACTIVE_JOB_STATES
from muster.workloads.queries import visible_jobs

ORDERS = {"name": "name", "free": "gpus_free", "used": "gpus_used"}
STATES = {
    "": ("All", Q()),
    "ready": ("Ready", Q(ready=True, cordoned=False)),
    "cordoned": ("Cordoned", Q(cordoned=True)),
    "not-ready": ("Not ready", Q(ready=False)),
    "bad": ("Unhealthy GPUs", Q(gpus_bad__gt=0)),
}


def node_list(standing: Standing, cluster: Cluster, query: QueryDict) -> dict[str, Any]:
    """Everything the cluster's page shows for this address."""
    nodes = with_usage(visible_nodes(standing).filter(cluster=cluster))
    if words := query.get("q", "").strip():
        nodes = nodes.filter(name__icontains=words)
    state = query.get("state", "") if query.get("state", "") in STATES else ""
    ordering = query.get("ordering", "name")
    ordering = ordering if ordering.lstrip("-") in ORDERS else "name"
    base = base_of(query, "state")
    page = read_page(
        nodes.filter(STATES[state][1]), query, field=ORDERS[ordering.lstrip("-")], descending=ordering[0] == "-"
    )
    orders = open_orders([node.pk for node in page.rows])
    found = figures.read(0, [cluster.pk])
    return {
        "page": page,
        "rows": [(node, node_state(node, orders.get(node.pk))) for node in page.rows],
        "states": [(key, label, _count(nodes, test), f"{base}state={key}") for key, (label, test) in STATES.items()],
        "levels": [level["name"] for level in cluster.levels],
        "figure": found[0] if found else {},
        "lead": _lead(cluster, found[0] if found else {}),
        "state": state,
        "ordering": ordering,
        "base": base_of(query, "ordering"),
        "q": query.get("q", ""),
    }


def _lead(cluster: Cluster, figure: dict[str, Any]) -> str:
    nodes = figure.get("nodes") or {"total": 0}
    ready = f"{nodes['ready']} of {nodes['total']} nodes are ready" if nodes["total"] else "No node has been seen yet"
    version = getattr(getattr(cluster, "status", None), "version", "")
    return f"{ready}, Kubernetes {version}." if version else f"{ready}."


def _count(nodes: QuerySet[Node], test: Q) -> int:
    return nodes.filter(test).order_by().count()


def node_state(node: Node, order: str | None) -> tuple[str, str]:
    """A node's state as a code for its dot and a word; an order that is not seen yet shows as under way."""
    if order:
        return "cordoning", "cordoning…" if order == "cordon" else "uncordoning…"
    if not node.ready:
        return "not-ready", "not ready"
    return ("cordoned", "cordoned") if node.cordoned else ("ready", "ready")


def node_page(standing: Standing, node: Node) -> dict[str, Any]:
    """Everything a node's page shows."""
    order = open_orders([node.pk]).get(node.pk)
    seen = world.read(node.cluster_id, [node.pk])[0]
    workers = workers_on(node.pk)
    return {
        "node": node,
        "state": node_state(node, order),
        "order": order,
        "levels": [level["name"] for level in node.cluster.levels],
        "wiring": _wiring(standing, node, seen),
        "has_wiring": bool(seen["gpus"]),
        "workers": [worker for worker in workers if standing.can_see(worker.attempt.job.tenant_id)],
        "others": sum(not standing.can_see(worker.attempt.job.tenant_id) for worker in workers),
        "gpu_count": len(seen["gpus"]),
        "gpu_used": sum(bool(gpu["holds"]) for gpu in seen["gpus"]),
        "bad": [gpu for gpu in seen["gpus"] if gpu["health"] != "ok"],
        "may_order": standing.is_platform_admin,
    }


def _wiring(standing: Standing, node: Node, seen: dict[str, Any]) -> dict[str, Any]:
    nics = [
        {"index": nic.index, "name": nic.name, "numa": nic.numa, "switch": nic.switch, "rdma": nic.is_rdma}
        for nic in node.nics.all()
    ]
    links = node.shape.wiring["links"] if node.shape else []
    return {"node": seen | {"version": 0}, "nics": nics, "links": links, "names": names(standing, node.cluster)}


def map_frame(standing: Standing, cluster: Cluster) -> dict[str, Any]:
    """What the map topic does not carry: levels, NVLink groups of each shape, and names that this reader may know."""
    shapes = HardwareShape.objects.filter(nodes__cluster=cluster).distinct()
    return {
        "levels": [level["name"] for level in cluster.levels],
        "groups": {str(shape.pk): nvlink_groups(shape.wiring["links"]) for shape in shapes},
        "names": names(standing, cluster),
    }


def names(standing: Standing, cluster: Cluster) -> dict[str, Any]:
    """Names of tenants and queues, which all members share, and of the active jobs that this reader may see."""
    queues = list(visible_queues(standing))
    jobs = visible_jobs(standing).filter(cluster=cluster, state__in=ACTIVE_JOB_STATES).values_list("pk", "name")
    return {
        "tenants": {str(queue.tenant_id): queue.tenant.name for queue in queues},
        "queues": {str(queue.pk): queue.name for queue in queues},
        "jobs": {str(pk): {"name": name, "url": reverse("web:job", args=[pk])} for pk, name in jobs},
    }


def nvlink_groups(links: list[list[int]]) -> list[list[int]]:
    """GPUs that are all joined directly, each GPU in the first group it fits; those joined to none stand alone."""
    groups: list[list[int]] = []
    for gpu in range(len(links)):
        home = next((group for group in groups if all(links[gpu][other] for other in group)), None)
        if home is None:
            groups.append([gpu])
        else:
            home.append(gpu)
    return groups
