"""Reading who has what, and why jobs wait."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from django.db.models import Count, Exists, F, IntegerField, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from muster.clusters.choices import Health
from muster.clusters.models import Gpu, Node
from muster.common import clock
from muster.placements.choices import OPEN_INTENTS, HoldState, IntentState, NodeVerb
from muster.placements.models import DeviceHold, JobVerdict, NodeOrder
from muster.workloads.choices import AttemptState, JobState
from muster.workloads.models import Job, Worker

SEEN_WITHIN = dt.timedelta(seconds=15)


def with_devices(workers: QuerySet[Worker]) -> QuerySet[Worker]:
    """Adds `devices`: what each worker holds, or held when it ended."""
    holds = DeviceHold.objects.exclude(state=HoldState.NOMINATED).select_related("gpu__flavor", "nic")
    return workers.prefetch_related(Prefetch("holds", holds.order_by("gpu__index", "nic__index"), to_attr="devices"))


def workers_of(job: Job, attempt_number: int | None = None) -> QuerySet[Worker]:
    """The workers of one attempt, the latest unless named, in rank order; those without a rank last."""
    attempts = job.attempts.order_by("-number")
    chosen = attempts.filter(number=attempt_number) if attempt_number is not None else attempts[:1]
    workers = Worker.objects.filter(attempt__in=list(chosen.values_list("pk", flat=True)))
    workers = workers.select_related("attempt", "role", "node").order_by("rank", "role__order", "index")
    return with_devices(workers)


def standing_verdict(job: Job) -> JobVerdict | None:
    """Why a waiting job waits, as the last cycle that tried it found; None for one that does not wait or was not tried yet."""
    if job.state not in (JobState.QUEUED, JobState.HELD):
        return None
    return JobVerdict.objects.select_related("verdict").filter(job=job).first()


def position_of(job: Job) -> int | None:
    """Its place in its queue, from 1: higher priority first, then earlier submission. None when it is not queued."""
    if job.state != JobState.QUEUED:
        return None
    earlier = Q(priority=job.priority) & (
        Q(submitted_at__lt=job.submitted_at) | Q(submitted_at=job.submitted_at, pk__lt=job.pk)
    )
    waiting = Job.objects.filter(queue_id=job.queue_id, cluster_id=job.cluster_id, state=JobState.QUEUED)
    return waiting.filter(Q(priority__gt=job.priority) | earlier).count() + 1


def with_usage(nodes: QuerySet[Node]) -> QuerySet[Any, Any]:
    """Adds `gpus_total`, `gpus_used` (held, or a pod's that is not ours), `gpus_bad` and `gpus_free` of each node."""
    gpus = Gpu.objects.filter(node=OuterRef("pk")).order_by().values("node")
    held = Exists(DeviceHold.objects.filter(gpu=OuterRef("pk"), state=HoldState.HELD))
    taken = gpus.annotate(is_held=held).filter(Q(is_held=True) | ~Q(others_pod=""))
    bad = ~Q(health=Health.OK)
    free = gpus.annotate(is_held=held).filter(is_held=False, others_pod="", health=Health.OK)
    return nodes.annotate(
        gpus_total=_count(gpus), gpus_used=_count(taken), gpus_bad=_count(gpus.filter(bad)), gpus_free=_count(free)
    )


def _count(gpus: QuerySet[Any, Any]) -> Coalesce:
    return Coalesce(Subquery(gpus.annotate(count=Count("pk")).values("count"), output_field=IntegerField()), 0)


def free_whole_nodes(cluster_id: int) -> int:
    """How many ready nodes with GPUs have every one of them healthy and free."""
    ready = Node.objects.filter(cluster_id=cluster_id, present=True, ready=True, cordoned=False)
    return with_usage(ready).filter(gpus_total__gt=0, gpus_free=F("gpus_total")).count()


def open_orders(node_ids: Iterable[int]) -> dict[int, str]:
    """The verbs ordered of these nodes that the informer has not seen done."""
    orders = NodeOrder.objects.filter(node__in=node_ids).select_related("node")
    waiting = {order.node_id: order for order in orders.order_by("pk")}
    return {
        pk: order.verb
        for pk, order in waiting.items()
        if order.state in OPEN_INTENTS or (order.state == IntentState.DONE and _is_unseen(order))
    }


def _is_unseen(order: NodeOrder) -> bool:
    """Done a moment ago, but the node does not show it yet."""
    is_recent = order.finished_at is not None and clock.now() - order.finished_at < SEEN_WITHIN
    return is_recent and order.node.cordoned != (order.verb == NodeVerb.CORDON)


def workers_on(node_id: int) -> list[Worker]:
    """The workers of live attempts on a node, with their jobs and devices."""
    workers = Worker.objects.filter(node_id=node_id).exclude(attempt__state=AttemptState.ENDED)
    return list(
        with_devices(workers.select_related("attempt__job__queue", "attempt__job__owner", "role").order_by("pk"))
    )
