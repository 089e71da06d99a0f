"""Beginning to end an attempt: the state it goes to, the Stop that carries it out, the nodes to keep away from."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from django.db import transaction

from muster.common import bells, clock
from muster.common.choices import ChangeKind
from muster.common.events import record_changes
from muster.placements.choices import OPEN_INTENTS, StopCause
from muster.placements.models import Placement, Stop
from muster.workloads.choices import AttemptState, Cause, JobState
from muster.workloads.models import Attempt, AvoidedNode, Job
from muster.workloads.states import move

DEFAULT_GRACE_SECONDS = 30
AVOID_FOR = dt.timedelta(minutes=15)


def lock_attempt(attempt_id: int) -> Attempt:
    """The attempt with its job, both locked, the job first."""
    job_id = Attempt.objects.values_list("job_id", flat=True).get(pk=attempt_id)
    job = Job.objects.select_for_update(no_key=True).get(pk=job_id)
    attempt = Attempt.objects.select_for_update(no_key=True).get(pk=attempt_id)
    attempt.job = job
    return attempt


def end_attempt(attempt: Attempt, cause: Cause, *, message: str, actor: Any = None, by_job: Job | None = None) -> None:
    """Begin to end a locked attempt that is creating, binding or running.

    A refusal leaves the job starting until all is taken back, and needs no Stop while the Placement is open: who holds that
    one deletes what he created. Every other cause orders a Stop, which waits for an open Placement to be undone.
    """
    is_running = attempt.state == AttemptState.RUNNING
    move(attempt, AttemptState.STOPPING if is_running else AttemptState.UNWINDING, cause, message=message)
    if cause != Cause.REFUSED:
        move(attempt.job, JobState.STOPPING, cause, message=message, actor=actor)
    if not _hurry_placement(attempt) or cause != Cause.REFUSED:
        stop_cause = StopCause.FAULT if cause == Cause.REFUSED else StopCause(cause)
        open_stop(attempt, stop_cause, message=message, by_user=actor, by_job=by_job)


def _hurry_placement(attempt: Attempt) -> bool:
    """Make the attempt's open Placement due at once, to be undone; whether there is one."""
    placements = Placement.objects.filter(attempt=attempt, state__in=OPEN_INTENTS)
    return bool(placements.update(next_try=clock.now()))


def grace_of(job: Job) -> int:
    """Seconds its pods get between SIGTERM and SIGKILL."""
    return int((job.spec.get("checkpoint") or {}).get("grace") or DEFAULT_GRACE_SECONDS)


def open_stop(
    attempt: Attempt, cause: str, *, message: str = "", by_user: Any = None, by_job: Job | None = None
) -> Stop:
    """Order a locked attempt ended; the open order, if it has one already, stands."""
    stop = Stop.objects.filter(attempt=attempt, worker=None, state__in=OPEN_INTENTS).first()
    if stop is None:
        stop = Stop.objects.create(
            cluster_id=attempt.job.cluster_id,
            attempt=attempt,
            cause=StopCause(cause),
            by_user=by_user,
            by_job=by_job,
            grace_seconds=grace_of(attempt.job),
            message=message,
            next_try=clock.now(),
        )
    ring_executor(attempt.job.cluster_id)
    return stop


def avoid_nodes(job: Job, node_ids: Iterable[int], *, reason: str) -> None:
    """Keep the job away from these nodes for 15 minutes, unless no other matches."""
    for node_id in sorted(node_ids):
        until = clock.now() + AVOID_FOR
        AvoidedNode.objects.update_or_create(
            job=job, node_id=node_id, defaults={"until": until, "reason": reason[:200]}
        )


def forget_avoided(now: dt.datetime) -> int:
    """Drop what need not be avoided any more; how many. Jobs that wait may be tried there again."""
    over = list(AvoidedNode.objects.filter(until__lte=now).values_list("pk", "job_id", "job__cluster_id"))
    AvoidedNode.objects.filter(pk__in=[pk for pk, _, _ in over]).delete()
    for cluster_id in {cluster_id for _, _, cluster_id in over}:
        record_changes(cluster_id, ChangeKind.JOB, sorted({job for _, job, where in over if where == cluster_id}))
    return len(over)


def ring_executor(cluster_id: int) -> None:
    """Tell the executor, once this transaction is committed, that intents wait."""
    transaction.on_commit(lambda: bells.ring_executor(cluster_id), robust=True)
