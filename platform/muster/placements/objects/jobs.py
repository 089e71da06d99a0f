"""Jobs as rows of a tenant's list, and one job with its workers and its story."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, Q, QuerySet

from muster.workloads.choices import FINAL_JOB_STATES, AttemptState, WorkerPhase
from muster.workloads.models import Attempt, Job, JobEvent, Worker

LIST_CAP = 1000
"""A tenant with more unfinished jobs is told `stale` on subscribing: its page fetches what it shows."""

EVENTS_CAP = 500


def everything(tenant_id: int) -> list[dict[str, Any]]:
    """The tenant's unfinished jobs, newest first. A finished one is put once more, with `final` true, and then forgotten."""
    unfinished = Job.objects.filter(tenant_id=tenant_id).exclude(state__in=FINAL_JOB_STATES)
    return _rows(Job.objects.filter(pk__in=list(unfinished.order_by("-id").values_list("pk", flat=True)[:LIST_CAP])))


def read_rows(tenant_id: int, ids: Iterable[int]) -> list[dict[str, Any]]:
    """These jobs as rows of the tenant's list."""
    return _rows(Job.objects.filter(tenant_id=tenant_id, pk__in=ids))


def everything_of_one(job_id: int) -> list[dict[str, Any]]:
    """The job, the workers of its latest attempts, and the last of its events."""
    events = list(JobEvent.objects.filter(job_id=job_id).order_by("-id").values_list("pk", flat=True)[:EVENTS_CAP])
    workers = Worker.objects.filter(attempt__in=_latest_attempts(job_id)).values_list("pk", flat=True)
    return [*read_one(job_id, [job_id]), *read_workers(job_id, workers), *read_events(job_id, events)]


def read_one(job_id: int, ids: Iterable[int]) -> list[dict[str, Any]]:
    """The job itself, as a row with what its page adds."""
    return _rows(Job.objects.filter(pk=job_id, pk__in=ids))


def read_workers(job_id: int, ids: Iterable[int]) -> list[dict[str, Any]]:
    """Those of these workers that belong to the job's latest attempts."""
    workers = Worker.objects.filter(pk__in=ids, attempt__in=_latest_attempts(job_id))
    return [_worker(worker) for worker in workers.select_related("role", "node", "attempt").order_by("id")]


def read_events(job_id: int, ids: Iterable[int]) -> list[dict[str, Any]]:
    """These events of the job's story."""
    rows = JobEvent.objects.filter(job_id=job_id, pk__in=ids).select_related("actor").order_by("id")
    return [
        {
            "id": f"job_event:{event.pk}",
            "pk": event.pk,
            "at": event.at,
            "kind": event.kind,
            "message": event.message,
            "actor": event.actor.username if event.actor else None,
        }
        for event in rows
    ]


def _latest_attempts(job_id: int) -> QuerySet[Attempt]:
    """The newest attempt of each replica."""
    latest = Attempt.objects.filter(job_id=job_id).order_by("replica", "-number").distinct("replica")
    return Attempt.objects.filter(pk__in=latest.values("pk"))


def _rows(jobs: QuerySet[Job]) -> list[dict[str, Any]]:
    live = ~Q(attempts__state=AttemptState.ENDED)
    rows = (
        jobs.select_related("queue", "owner", "standing__verdict", "cluster")
        .annotate(
            workers_running=Count(
                "attempts__workers", filter=live & Q(attempts__workers__phase=WorkerPhase.RUNNING), distinct=True
            )
        )
        .order_by("-id")
    )
    return [_row(job) for job in rows]


def _row(job: Any) -> dict[str, Any]:
    standing = getattr(job, "standing", None)
    return {
        "id": f"job:{job.pk}",
        "pk": job.pk,
        "name": job.name,
        "tenant": job.tenant_id,
        "queue": job.queue_id,
        "queue_name": job.queue.name,
        "cluster": job.cluster_id,
        "owner": job.owner.username,
        "kind": job.kind,
        "state": job.state,
        "cause": job.state_cause,
        "message": job.state_message,
        "final": job.state in FINAL_JOB_STATES,
        "priority": job.priority,
        "gpus": float(job.gpus_wanted),
        "workers_wanted": job.workers_wanted,
        "workers_running": job.workers_running,
        "submitted_at": job.submitted_at,
        "started_at": job.started_at,
        "ended_at": job.ended_at,
        "reason": standing.verdict.reason if standing else None,
        "why": standing.verdict.message if standing else None,
        "starts_at": standing.starts_at if standing else None,
    }


def _worker(worker: Worker) -> dict[str, Any]:
    return {
        "id": f"worker:{worker.pk}",
        "pk": worker.pk,
        "attempt": worker.attempt.number,
        "replica": worker.attempt.replica,
        "role": worker.role.name,
        "index": worker.index,
        "rank": worker.rank,
        "node": worker.node.name if worker.node else None,
        "phase": worker.phase,
        "is_stopping": worker.is_stopping,
        "exit_code": worker.exit_code,
        "reason": worker.reason,
        "message": worker.message,
        "started_at": worker.started_at,
        "ended_at": worker.ended_at,
    }
