"""Reading clusters and hardware."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.core.cache import cache
from django.db.models import Count, F, Min, QuerySet

from muster.accounts.standing import Standing
from muster.clusters.models import Cluster, Flavor, Node

SHARES_KEPT_SECONDS = 60


def visible_clusters(standing: Standing) -> QuerySet[Cluster]:
    """Every cluster, for whoever is a member of any tenant."""
    clusters = Cluster.objects.select_related("status")
    return clusters if standing.is_anybody else clusters.none()


def visible_nodes(standing: Standing) -> QuerySet[Node]:
    """Every node that is in its cluster now, for whoever is a member of any tenant."""
    nodes = Node.objects.filter(present=True).select_related("cluster", "pool", "shape")
    return nodes if standing.is_anybody else nodes.none()


def is_observed(cluster_id: int) -> bool:
    """Whether any node of the cluster was seen; before that everything would seem impossible there."""
    return Node.objects.filter(cluster_id=cluster_id, present=True).exists()


def visible_flavors(standing: Standing) -> QuerySet[Flavor]:
    """Every GPU model, for whoever is a member of any tenant."""
    return Flavor.objects.all() if standing.is_anybody else Flavor.objects.none()


def model_matches(model: str, flavor_name: str) -> bool:
    """Whether `H100` names `H100-80GB`: equal, or its beginning up to a dash; case ignored (so `L4` is not L40S)."""
    asked, name = model.lower(), flavor_name.lower()
    return name == asked or name.startswith(f"{asked}-")


def flavors_for(needs: dict[str, Any]) -> list[Flavor]:
    """The flavors that meet `needs`, the canonical `gpu` mapping of a job."""
    return [flavor for flavor in Flavor.objects.all() if _meets(flavor, needs)]


def _meets(flavor: Flavor, needs: dict[str, Any]) -> bool:
    models = needs.get("model")
    return (
        (not models or any(model_matches(model, flavor.name) for model in models))
        and flavor.vendor.lower() == needs.get("vendor", flavor.vendor).lower()
        and flavor.memory_bytes >= needs.get("min_memory", 0)
        and (flavor.memory_bandwidth_gbs or 0) >= needs.get("min_memory_bandwidth", 0)
        and (flavor.compute_capability or 0) >= Decimal(str(needs.get("min_compute_capability", 0))) * 10
        and (flavor.tensor_cores or 0) >= needs.get("min_tensor_cores", 0)
        and set(needs.get("precision", ())) <= set(flavor.precisions)
    )


@dataclass(frozen=True)
class NodeShare:
    """What one GPU's share is worth on the poorest node of `gpus` GPUs of one flavor: thousandths of a core, bytes."""

    flavor_id: int
    gpus: int
    cpu_milli: int
    memory_bytes: int


def node_shares(cluster_id: int) -> list[NodeShare]:
    """One row per flavor and GPU count; what other people's pods ask for is taken off first."""
    key = f"node-shares:{cluster_id}"
    shares = cache.get(key)
    if not shares:
        shares = list(_read_shares(cluster_id))
        cache.set(key, shares, SHARES_KEPT_SECONDS)
    return shares


def _read_shares(cluster_id: int) -> Iterable[NodeShare]:
    nodes = (
        Node.objects.filter(cluster_id=cluster_id, present=True)
        .annotate(
            flavor_id=Min("gpus__flavor_id"),
            count=Count("gpus"),
            cpu=F("cpu_milli") - F("others_cpu_milli"),
            memory=F("memory_bytes") - F("others_memory_bytes"),
        )
        .filter(count__gt=0, flavor_id__isnull=False)
        .order_by()
        .values_list("flavor_id", "count", "cpu", "memory")
    )
    poorest: dict[tuple[int, int], tuple[int, int]] = {}
    for flavor_id, count, cpu, memory in nodes:
        before = poorest.get((flavor_id, count), (cpu, memory))
        poorest[flavor_id, count] = (min(before[0], cpu), min(before[1], memory))
    for (flavor_id, count), (cpu, memory) in poorest.items():
        yield NodeShare(flavor_id, count, max(cpu, 0) // count, max(memory, 0) // count)


def share_of_smallest(cluster_id: int, needs: dict[str, Any], *, gpus: int) -> NodeShare | None:
    """The poorest share per GPU among the nodes that hold `gpus` GPUs meeting `needs`; None where there is no such node."""
    flavor_ids = {flavor.pk for flavor in flavors_for(needs)}
    fitting = [share for share in node_shares(cluster_id) if share.gpus >= gpus and share.flavor_id in flavor_ids]
    if not fitting:
        return None
    poorest = min(fitting, key=lambda share: share.cpu_milli)
    return NodeShare(poorest.flavor_id, poorest.gpus, poorest.cpu_milli, min(share.memory_bytes for share in fitting))
