"""Checking a cluster's quotas as a whole: each queue against itself, children against their parent, guarantees against capacity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from django.db.models import Sum

from muster.clusters.models import Cluster, Gpu, Node
from muster.quotas.errors import QuotaInvalid
from muster.quotas.models import Queue, Quota

UNITS = {"cpu": "thousandths of a core", "memory": "bytes"}


def check_quotas(cluster: Cluster) -> None:
    """Raise QuotaInvalid with a sentence per problem, each under its queue's name."""
    problems: dict[str, list[str]] = defaultdict(list)
    for queue_name, message in _problems(cluster):
        problems[queue_name].append(message)
    if problems:
        raise QuotaInvalid("; ".join(text for texts in problems.values() for text in texts), fields=dict(problems))


def _problems(cluster: Cluster) -> Iterator[tuple[str, str]]:
    by_resource: dict[str, list[Quota]] = defaultdict(list)
    for quota in Quota.objects.filter(cluster=cluster).select_related("queue__tenant"):
        by_resource[quota.resource].append(quota)
    parents = dict(Queue.objects.values_list("pk", "parent_id"))
    for resource, quotas in by_resource.items():
        yield from _alone(quotas)
        yield from _against_parents({quota.queue_id: quota for quota in quotas}, parents)
        yield from _against_capacity(cluster, resource, [quota for quota in quotas if parents[quota.queue_id] is None])


def _alone(quotas: list[Quota]) -> Iterator[tuple[str, str]]:
    for quota in quotas:
        if quota.limit is not None and quota.limit < quota.guaranteed:
            yield _says(quota, f"guarantees {quota.guaranteed} {_of(quota)} but is limited to {quota.limit}")


def _against_parents(quotas: dict[int, Quota], parents: dict[int, int | None]) -> Iterator[tuple[str, str]]:
    """Guarantees of children fit into their parent's; a child's limit above its parent's promises what it cannot get."""
    children: dict[int, list[Quota]] = defaultdict(list)
    for quota in quotas.values():
        above = _nearest_above(quota.queue_id, quotas, parents)
        if above is not None:
            children[above].append(quota)
    for parent_id, below in children.items():
        parent = quotas[parent_id]
        total = sum(quota.guaranteed for quota in below)
        if total > parent.guaranteed:
            yield _says(parent, f"guarantees {parent.guaranteed} {_of(parent)}, the queues below it {total} together")
        for quota in below:
            if parent.limit is not None and quota.limit is not None and quota.limit > parent.limit:
                yield _says(quota, f"has a limit of {quota.limit} {_of(quota)}, above its parent's {parent.limit}")


def _nearest_above(queue_id: int, quotas: dict[int, Quota], parents: dict[int, int | None]) -> int | None:
    """The closest ancestor that has a quota of the same resource."""
    above = parents[queue_id]
    while above is not None and above not in quotas:
        above = parents[above]
    return above


def _against_capacity(cluster: Cluster, resource: str, tops: list[Quota]) -> Iterator[tuple[str, str]]:
    """Nothing can be said of a cluster whose nodes nobody has seen yet."""
    capacity = capacity_of(cluster, resource)
    total = sum(quota.guaranteed for quota in tops)
    if capacity is not None and total > capacity and tops:
        largest = max(tops, key=lambda quota: quota.guaranteed)
        yield _says(
            largest, f"and the other top queues guarantee {total} {_of(largest)}, {cluster.name} has {capacity}"
        )


def capacity_of(cluster: Cluster, resource: str) -> int | None:
    """What the cluster has of a resource in all, in the quota's unit; None when no node was seen yet."""
    nodes = Node.objects.filter(cluster=cluster, present=True)
    if not nodes.exists():
        return None
    if resource in ("cpu", "memory"):
        column = "cpu_milli" if resource == "cpu" else "memory_bytes"
        return int(nodes.aggregate(total=Sum(column))["total"] or 0)
    gpus = Gpu.objects.filter(node__in=nodes)
    flavor = resource.partition("/")[2]
    return gpus.filter(flavor__name=flavor).count() if flavor else gpus.count()


def _says(quota: Quota, words: str) -> tuple[str, str]:
    return quota.queue.full_name, f"{quota.queue.full_name} {words}."


def _of(quota: Quota) -> str:
    return UNITS.get(quota.resource, "GPUs" if quota.resource == "gpu" else quota.resource.removeprefix("gpu/"))
