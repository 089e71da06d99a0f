"""Reading who has what, and why jobs wait."""

from __future__ import annotations

from django.db.models import Prefetch, Q, QuerySet

from muster.placements.choices import HoldState
from muster.placements.models import DeviceHold, JobVerdict
from muster.workloads.choices import JobState
from muster.workloads.models import Job, Worker


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
