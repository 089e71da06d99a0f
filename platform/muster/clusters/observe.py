"""The informer's only way to write nodes, devices and a cluster's status.

Rows are compared before they are written. Only a column that the cycle's load reads raises a node's sched_rev, with a Change for
schedulers and an Event for pages: heartbeats change nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F

from muster.clusters.hardware import FlavorBook, ShapeBook, write_devices, write_others
from muster.clusters.models import Cluster, ClusterStatus, Node, NodePool
from muster.clusters.seen import NodeSeen, OthersSeen
from muster.common import clock
from muster.common.bulk import update_rows
from muster.common.choices import ChangeKind, EventKind
from muster.common.events import OVERVIEW, map_topic, record_changes, record_event, record_events

#: Columns that pages show and load does not read.
UNREAD = ("uid", "conditions")
READ = (
    "pool",
    "shape",
    "present",
    "ready",
    "cordoned",
    "labels",
    "taints",
    "domains",
    "nvlink_domain",
    "cpu_milli",
    "memory_bytes",
    "pods",
)


@transaction.atomic
def observe_nodes(cluster: Cluster, seen: Sequence[NodeSeen]) -> set[int]:
    """Write what was seen of these nodes and their devices; the pks of nodes that a scheduler must read again."""
    latest = {one.name: one for one in seen}
    nodes = _locked(cluster, latest)
    pools = list(NodePool.objects.filter(cluster=cluster))
    shapes, flavors = ShapeBook(), FlavorBook()
    new, changed, stale = [], [], set()
    for name, one in latest.items():
        columns = _columns(one, pools, shapes)
        node = nodes.get(name)
        if node is None:
            nodes[name] = node = Node(cluster=cluster, name=name, **columns)
            new.append(node)
            continue
        differing = [column for column, value in columns.items() if getattr(node, column) != value]
        if differing:
            for column in differing:
                setattr(node, column, columns[column])
            changed.append(node)
        if any(column not in UNREAD for column in differing):
            stale.add(node.pk)
    Node.objects.bulk_create(new, batch_size=1000)
    update_rows(changed, [*READ, *UNREAD])
    stale |= {node.pk for node in new}
    stale |= write_devices({nodes[name]: one for name, one in latest.items()}, flavors)
    _raise(cluster, stale)
    return stale


@transaction.atomic
def observe_gone(cluster: Cluster, names: Collection[str]) -> set[int]:
    """These nodes left the cluster; their rows stay. The pks of those that were there before."""
    left = Node.objects.select_for_update(no_key=True).filter(cluster=cluster, name__in=names, present=True)
    keys = set(left.order_by("pk").values_list("pk", flat=True))
    Node.objects.filter(pk__in=keys).update(present=False, ready=False)
    _raise(cluster, keys)
    return keys


def present_names(cluster: Cluster) -> set[str]:
    """The nodes that the rows say are in the cluster."""
    return set(Node.objects.filter(cluster=cluster, present=True).values_list("name", flat=True))


@transaction.atomic
def observe_others(cluster: Cluster, seen: Mapping[str, OthersSeen]) -> set[int]:
    """Write what pods of others take from these nodes, by node name; the pks of nodes where that changed."""
    nodes = _locked(cluster, seen)
    stale, changed = set(), []
    for name, node in nodes.items():
        one = seen[name]
        told = (one.cpu_milli, one.memory_bytes, one.pods)
        if told != (node.others_cpu_milli, node.others_memory_bytes, node.others_pods):
            node.others_cpu_milli, node.others_memory_bytes, node.others_pods = told
            changed.append(node)
    update_rows(changed, ["others_cpu_milli", "others_memory_bytes", "others_pods"])
    stale |= {node.pk for node in changed}
    stale |= write_others({node: seen[name] for name, node in nodes.items()})
    _raise(cluster, stale)
    return stale


def observe_status(cluster: Cluster, *, is_reachable: bool, message: str = "", version: str = "") -> None:
    """Whether the cluster answers, since when, and in the client's words why not. `seen_at` moves with every call while it does."""
    now = clock.now()
    status, _ = ClusterStatus.objects.get_or_create(cluster=cluster)
    turned = status.is_reachable != is_reachable
    status.is_reachable, status.message = is_reachable, "" if is_reachable else message
    status.since = now if turned or status.since is None else status.since
    status.seen_at = now if is_reachable else status.seen_at
    status.version = version or status.version
    status.save(update_fields=["is_reachable", "message", "since", "seen_at", "version"])
    if turned:
        record_event(OVERVIEW, EventKind.CLUSTER, cluster.pk)


def record_pass(cluster: Cluster, *, drift: int, repairs: int) -> None:
    """The result of one pass of the reconciler."""
    ClusterStatus.objects.get_or_create(cluster=cluster)
    ClusterStatus.objects.filter(cluster=cluster).update(drift=drift, repairs=F("repairs") + repairs)


def _locked(cluster: Cluster, names: Collection[str]) -> dict[str, Node]:
    rows = Node.objects.select_for_update(no_key=True).filter(cluster=cluster, name__in=list(names)).order_by("pk")
    return {node.name: node for node in rows}


def _columns(one: NodeSeen, pools: Sequence[NodePool], shapes: ShapeBook) -> dict[str, Any]:
    return {
        "uid": one.uid,
        "present": True,
        "ready": one.ready,
        "cordoned": one.cordoned,
        "labels": dict(one.labels),
        "taints": one.taints,
        "domains": dict(one.domains),
        "nvlink_domain": one.nvlink_domain,
        "cpu_milli": one.cpu_milli,
        "memory_bytes": one.memory_bytes,
        "pods": one.pods,
        "conditions": one.conditions,
        "pool_id": _pool_of(one, pools),
        "shape_id": shapes.row(one.shape, one.source) if one.shape else None,
    }


def _pool_of(one: NodeSeen, pools: Sequence[NodePool]) -> int | None:
    """The first pool, by order, whose selector the node matches."""
    return next((pool.pk for pool in pools if pool.selector.items() <= dict(one.labels).items()), None)


def _raise(cluster: Cluster, node_ids: Collection[int]) -> None:
    """A scheduler must read these nodes again, and pages show them anew."""
    if not node_ids:
        return
    Node.objects.filter(pk__in=node_ids).update(sched_rev=F("sched_rev") + 1)
    record_changes(cluster.pk, ChangeKind.NODE, sorted(node_ids))
    record_events(map_topic(cluster.pk), EventKind.NODE, sorted(node_ids))
