"""Faults of the hardware end the attempts they hit. Judged by how things are, not by how they changed: a change may be missed."""

from __future__ import annotations

from collections.abc import Mapping

from muster.clusters.choices import Health
from muster.clusters.models import Cluster, Node
from muster.clusters.seen import NodeSeen
from muster.placements import actions
from muster.placements.choices import HoldState
from muster.placements.models import DeviceHold
from muster.workloads.choices import AttemptState

LIVE = (AttemptState.CREATING, AttemptState.BINDING, AttemptState.RUNNING)


def fault_bad_nodes(cluster: Cluster, seen: Mapping[str, NodeSeen | None]) -> set[int]:
    """End every attempt with a worker on a node that is gone or not ready, or holding a GPU that is unhealthy; their pks."""
    bad = [name for name, one in seen.items() if one is None or not one.ready]
    sick = [name for name, one in seen.items() if one and any(gpu.health == Health.UNHEALTHY for gpu in one.gpus)]
    hit: set[int] = set()
    if bad:
        rows = Node.objects.filter(cluster=cluster, name__in=bad)
        hit |= _fault_nodes(cluster, dict(rows.values_list("pk", "name")))
    if sick:
        hit |= fault_gpus(
            cluster, list(Node.objects.filter(cluster=cluster, name__in=sick).values_list("pk", flat=True))
        )
    return hit


def fault_all(cluster: Cluster) -> set[int]:
    """The same for the whole cluster, from the rows."""
    bad = Node.objects.filter(cluster=cluster, ready=False, workers__attempt__state__in=LIVE).distinct()
    hit = _fault_nodes(cluster, dict(bad.values_list("pk", "name")))
    sick = Node.objects.filter(cluster=cluster, gpus__health=Health.UNHEALTHY).distinct()
    return hit | fault_gpus(cluster, list(sick.values_list("pk", flat=True)))


def fault_gpus(cluster: Cluster, node_ids: list[int]) -> set[int]:
    """End every live attempt that holds an unhealthy GPU of these nodes."""
    holds = DeviceHold.objects.filter(
        gpu__node_id__in=node_ids,
        gpu__node__cluster=cluster,
        gpu__health=Health.UNHEALTHY,
        state=HoldState.HELD,
        worker__attempt__state__in=LIVE,
    )
    hit = {}
    columns = ("worker__attempt_id", "gpu__node_id", "gpu__node__name", "gpu__index", "gpu__health_reason")
    for attempt_id, node_id, node, index, reason in holds.order_by("worker__attempt_id").values_list(*columns):
        hit[attempt_id] = (node_id, f"GPU {index} of {node} is unhealthy: {reason or 'no reason given'}.")
    for attempt_id, (node_id, message) in hit.items():
        actions.fault_attempt(attempt_id, message, node_id=node_id)
    return set(hit)


def _fault_nodes(cluster: Cluster, names: Mapping[int, str]) -> set[int]:
    hit: set[int] = set()
    for node_id, name in names.items():
        hit |= actions.fault_nodes(cluster.pk, [node_id], f"Node {name} is lost or not ready.")
    return hit
