"""`move`: the one function that writes the state of a Job or an Attempt.

It checks `transitions` (which pair, by which cause), writes the row with its sched_rev raised, the JobEvent that people
read, the Events that pages watch and the Change that schedulers follow, all in the caller's transaction. Lock the row
first where others may move it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import connection, transaction

from muster.common import clock
from muster.common.choices import ChangeKind, EventKind
from muster.common.errors import Conflict
from muster.common.events import (
    OVERVIEW,
    job_topic,
    jobs_topic,
    queues_topic,
    record_change,
    record_changes,
    record_event,
    record_mixed_events,
)
from muster.workloads.choices import FINAL_JOB_STATES, AttemptState, Cause, JobState
from muster.workloads.models import Attempt, Job, JobEvent
from muster.workloads.transitions import ATTEMPT_CAUSES, JOB_CAUSES


class IllegalMove(Conflict):
    """This change of state is not allowed."""

    code = "illegal_move"


def _check(table: Mapping[tuple[str, str], frozenset[Any]], row: Job | Attempt, to: str, cause: str) -> None:
    allowed = table.get((row.state, to))
    if allowed is None:
        raise IllegalMove(f"{row._meta.verbose_name} {row} is {row.state}; it cannot become {to}.")
    if cause not in allowed:
        raise IllegalMove(f"{row._meta.verbose_name} {row} cannot go from {row.state} to {to} by {cause}.")


@transaction.atomic
def move(row: Job | Attempt, to: str, cause: str, *, message: str = "", actor: Any = None) -> None:
    """Bring `row` to state `to` because of `cause`; raises IllegalMove where the tables do not hold that."""
    if isinstance(row, Job):
        _move_job(row, to, cause, message=message, actor=actor)
    else:
        _move_attempt(row, to, cause, message=message)


def _move_job(job: Job, to: str, cause: str, *, message: str, actor: Any) -> None:
    _check(JOB_CAUSES, job, to, cause)
    before, now = job.state, clock.now()
    job.state, job.state_cause, job.state_message = to, cause, message
    job.sched_rev += 1
    if to == JobState.RUNNING:
        job.started_at = now
    job.ended_at = now if to in FINAL_JOB_STATES else None
    job.save(update_fields=["state", "state_cause", "state_message", "sched_rev", "started_at", "ended_at"])
    note_job(job, kind=to, message=message or f"{before} → {to}", actor=actor, cause=cause)
    record_change(job.cluster_id, ChangeKind.JOB, job.pk)


def _move_attempt(attempt: Attempt, to: str, cause: str, *, message: str) -> None:
    _check(ATTEMPT_CAUSES, attempt, to, cause)
    now = clock.now()
    attempt.state, attempt.sched_rev = to, attempt.sched_rev + 1
    if to in (AttemptState.UNWINDING, AttemptState.STOPPING, AttemptState.ENDED):
        attempt.cause = attempt.cause or cause
        attempt.message = attempt.message or message
    if to == AttemptState.RUNNING:
        attempt.running_at = now
    if to == AttemptState.ENDED:
        attempt.ended_at = now
    attempt.save(update_fields=["state", "sched_rev", "cause", "message", "running_at", "ended_at"])
    publish_job(attempt.job)
    record_change(attempt.job.cluster_id, ChangeKind.JOB, attempt.job_id)


# One statement whose size does not grow with the number of jobs.
_START_JOBS = """
    UPDATE workloads_job AS job
       SET state = %s, state_cause = %s, state_message = placed.message, sched_rev = job.sched_rev + 1,
           not_before = NULL, ended_at = NULL
      FROM unnest(%s::bigint[], %s::text[]) AS placed(id, message)
     WHERE job.id = placed.id"""


@transaction.atomic
def start_jobs(jobs: Sequence[Job], messages: Mapping[int, str]) -> None:
    """`move` to starting, by the scheduler's commit, for many locked jobs in a fixed number of statements."""
    now = clock.now()
    for job in jobs:
        _check(JOB_CAUSES, job, JobState.STARTING, Cause.COMMIT)
        job.state, job.state_cause, job.state_message = JobState.STARTING, Cause.COMMIT, messages[job.pk]
        job.sched_rev, job.not_before, job.ended_at = job.sched_rev + 1, None, None
    keys = [job.pk for job in jobs]
    with connection.cursor() as cursor:
        cursor.execute(_START_JOBS, [JobState.STARTING, Cause.COMMIT, keys, [messages[key] for key in keys]])
    stories = [
        JobEvent(job=job, at=now, kind=JobState.STARTING, message=messages[job.pk], detail={"cause": str(Cause.COMMIT)})
        for job in jobs
    ]
    JobEvent.objects.bulk_create(stories, batch_size=1000)
    record_mixed_events(topic for job in jobs for topic in _job_topics(job))
    record_mixed_events((job_topic(story.job_id), EventKind.JOB_EVENT, story.pk) for story in stories)
    for cluster_id in {job.cluster_id for job in jobs}:
        record_changes(cluster_id, ChangeKind.JOB, [job.pk for job in jobs if job.cluster_id == cluster_id])


def note_job(job: Job, *, kind: str, message: str, actor: Any = None, **detail: Any) -> JobEvent:
    """Append what happened to the job's story and tell the pages that show it."""
    event = JobEvent.objects.create(job=job, at=clock.now(), kind=kind, message=message, actor=actor, detail=detail)
    record_event(job_topic(job.pk), EventKind.JOB_EVENT, event.pk)
    publish_job(job)
    return event


def publish_job(job: Job) -> None:
    """Tell every topic that shows this job that it changed."""
    record_mixed_events(_job_topics(job))


def _job_topics(job: Job) -> Iterator[tuple[str, str, int]]:
    """Topic, kind and object of everything that a job's state shows in."""
    yield job_topic(job.pk), EventKind.JOB, job.pk
    yield jobs_topic(job.tenant_id), EventKind.JOB, job.pk
    yield queues_topic(job.cluster_id), EventKind.QUEUE, job.queue_id
    yield OVERVIEW, EventKind.CLUSTER, job.cluster_id
