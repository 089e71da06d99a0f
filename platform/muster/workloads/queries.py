"""Reading jobs, filtered by what the reader may see."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from muster.accounts.standing import Standing
from muster.common.errors import NotFound
from muster.quotas.models import Queue
from muster.workloads.choices import (
    ACTIVE_JOB_STATES,
    FINAL_JOB_STATES,
    WAITING_JOB_STATES,
    AttemptState,
    JobState,
    WorkerPhase,
)
from muster.workloads.models import Job, JobDependency, JobEvent, Worker


def visible_jobs(standing: Standing) -> QuerySet[Job]:
    """The jobs of the user's tenants, newest first, with the names a row shows."""
    jobs = Job.objects.select_related("tenant", "queue__tenant", "cluster", "owner", "priority_class")
    return jobs if standing.is_platform_admin else jobs.filter(tenant_id__in=standing.roles)


def visible_job(standing: Standing, job_id: int) -> Job:
    """One job with its readiness; NotFound also where it is another tenant's."""
    job = with_readiness(visible_jobs(standing)).filter(pk=job_id).first()
    if job is None:
        raise NotFound(f"There is no job {job_id}.")
    return job


def with_readiness(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """Adds `workers_ready`, the workers of the live attempt that run now."""
    ready = (
        Worker.objects.filter(attempt__job=OuterRef("pk"), phase=WorkerPhase.RUNNING)
        .exclude(attempt__state=AttemptState.ENDED)
        .order_by()
        .values("attempt__job")
        .annotate(count=Count("pk"))
        .values("count")
    )
    return jobs.annotate(workers_ready=Coalesce(Subquery(ready), 0))


def job_events(job: Job) -> QuerySet[JobEvent]:
    """The job's story, oldest first."""
    return JobEvent.objects.filter(job=job).select_related("actor").order_by("pk")


def warnings_of(job: Job) -> list[str]:
    """What was said against the job when it was submitted."""
    return list(JobEvent.objects.filter(job=job, kind="warning").values_list("message", flat=True))


def counts_by_state(jobs: QuerySet[Job]) -> dict[str, int]:
    """How many of these jobs are in each state; every state is there."""
    found = dict(jobs.order_by().values_list("state").annotate(count=Count("pk")))
    return {state: found.get(state, 0) for state in JobState.values}


def counts_by(jobs: QuerySet[Job], column: str) -> list[tuple[str, int]]:
    """How many of these jobs there are by `queue__name`, `owner__username` or the like, most first."""
    return list(jobs.order_by().values_list(column).annotate(count=Count("pk")).order_by("-count", column))


def dependencies_of(job: Job) -> list[tuple[Job, str]]:
    """The jobs it waits for, each with `met`, `open` or `failed` (it then waits for ever)."""
    states = {JobState.SUCCEEDED: "met", JobState.FAILED: "failed", JobState.CANCELLED: "failed"}
    rows = JobDependency.objects.filter(job=job).select_related("after").order_by("pk")
    return [(row.after, states.get(JobState(row.after.state), "open")) for row in rows]


@dataclass
class QueueTotals:
    """Jobs of a queue and all queues below it: how many wait, how many are active, and the GPUs of these."""

    waiting: int = 0
    active: int = 0
    gpus_used: Decimal = Decimal(0)


def queue_totals() -> dict[int, QueueTotals]:
    """The totals of every queue, by its id; those of a parent contain its children's."""
    active = Q(state__in=ACTIVE_JOB_STATES)
    # Named one by one, not "all but the final ones": an index finds these among a million that have ended.
    sums = Job.objects.filter(state__in=[*WAITING_JOB_STATES, *ACTIVE_JOB_STATES]).order_by().values("queue_id")
    sums = sums.annotate(waiting=Count("pk", filter=~active), active=Count("pk", filter=active))
    parents = dict(Queue.objects.values_list("pk", "parent_id"))
    totals = {pk: QueueTotals() for pk in parents}
    for row in sums.annotate(gpus=Coalesce(Sum("gpus_wanted", filter=active), Decimal(0))):
        queue_id: int | None = row["queue_id"]
        while queue_id is not None:
            found = totals[queue_id]
            found.waiting += row["waiting"]
            found.active += row["active"]
            found.gpus_used += row["gpus"]
            queue_id = parents[queue_id]
    return totals


def job_verbs(standing: Standing, job: Job) -> list[str]:
    """What this reader may do to the job as it is now: the buttons of its page and `capabilities` of the interface."""
    verbs = ["clone"] if standing.can_submit(job.tenant_id) else []
    if not standing.can_change_job(job.tenant_id, job.owner_id) or job.state in FINAL_JOB_STATES:
        return verbs
    if job.state == JobState.QUEUED:
        verbs.append("hold")
    if job.state == JobState.HELD:
        verbs.append("release")
    return [*verbs, "priority", "cancel"]
