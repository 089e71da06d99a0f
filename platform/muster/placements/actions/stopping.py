"""Verbs that end attempts: cancel, fault, walltime, the start clock; and orders to nodes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from typing import Any

from django.db import transaction
from django.db.models import DurationField, ExpressionWrapper, F

from muster.audit.actions import record
from muster.clusters.models import Node
from muster.common import clock
from muster.common.errors import Conflict
from muster.placements.actions.ending import avoid_nodes, end_attempt, lock_attempt, ring_executor
from muster.placements.actions.holds import release_holds
from muster.placements.actions.settling import settle
from muster.placements.choices import OPEN_INTENTS, NodeVerb
from muster.placements.models import NodeOrder
from muster.placements.settlement import ENDED_PHASES
from muster.workloads.actions import change_jobs
from muster.workloads.choices import FINAL_JOB_STATES, WAITING_JOB_STATES, AttemptState, Cause, JobState, WorkerPhase
from muster.workloads.models import Attempt, Job, Worker
from muster.workloads.states import move

START_WITHIN = dt.timedelta(minutes=15)
LIVE = (AttemptState.CREATING, AttemptState.BINDING, AttemptState.RUNNING)


class AlreadyEnded(Conflict):
    """The job has ended already."""

    code = "already_ended"


@transaction.atomic
def cancel_job(job: Job, actor: Any) -> Job:
    """End a job for good: at once when it waits, else through a Stop with its checkpoint's grace (30 s without one)."""
    job = Job.objects.select_for_update(no_key=True).get(pk=job.pk)
    _cancel(job, actor)
    return job


def cancel_jobs(user: Any, job_ids: Collection[int]) -> list[Job]:
    """Cancel all of these jobs, as this user may, or none."""
    return change_jobs(user, job_ids, _cancel)


def _cancel(job: Job, actor: Any) -> None:
    """Cancel a locked job."""
    if job.state in FINAL_JOB_STATES:
        raise AlreadyEnded(f"The job has ended already: it is {job.state}.")
    message = f"Cancelled by {actor}." if actor else "Cancelled."
    attempts = Attempt.objects.select_for_update(no_key=True).filter(job=job).exclude(state=AttemptState.ENDED)
    for attempt in attempts.order_by("pk"):
        attempt.job = job
        _cancel_attempt(attempt, message, actor)
    if job.state in WAITING_JOB_STATES:
        move(job, JobState.CANCELLED, Cause.CANCEL, message=message, actor=actor)
    record(actor, "job.cancel", job, tenant_id=job.tenant_id)


def _cancel_attempt(attempt: Attempt, message: str, actor: Any) -> None:
    """A nomination is dropped, a live attempt stopped; one that is ending already ends as cancelled."""
    if attempt.state == AttemptState.NOMINATED:
        release_holds(attempt.workers.values_list("pk", flat=True), clock.now())
        move(attempt, AttemptState.ENDED, Cause.CANCEL, message=message)
    elif attempt.state in LIVE:
        end_attempt(attempt, Cause.CANCEL, message=message, actor=actor)
    else:
        attempt.cause, attempt.message = Cause.CANCEL, message
        attempt.save(update_fields=["cause", "message"])
        if attempt.job.state == JobState.STARTING:
            move(attempt.job, JobState.STOPPING, Cause.CANCEL, message=message, actor=actor)


@transaction.atomic
def fault_attempt(attempt_id: int, message: str, *, node_id: int | None = None) -> None:
    """A fault of the cluster ends this attempt whole; its job is queued again, no retry counted, `node_id` avoided 15 min."""
    attempt = lock_attempt(attempt_id)
    if attempt.state not in LIVE:
        return
    avoid_nodes(attempt.job, [] if node_id is None else [node_id], reason=message)
    end_attempt(attempt, Cause.FAULT, message=message)
    settle(attempt_id)


def fault_nodes(cluster_id: int, node_ids: Sequence[int], message: str) -> set[int]:
    """`fault_attempt` for every live attempt with a worker not gone on these nodes (lost, not ready); their pks."""
    workers = (
        Worker.objects.filter(node_id__in=node_ids, node__cluster_id=cluster_id, attempt__state__in=LIVE)
        .exclude(phase__in=ENDED_PHASES)
        .order_by("attempt_id", "pk")
    )
    hit = dict(workers.values_list("attempt_id", "node_id"))
    for attempt_id, node_id in hit.items():
        fault_attempt(attempt_id, message, node_id=node_id)
    return set(hit)


def expire_walltimes(now: dt.datetime) -> int:
    """Stop every running job past its walltime; how many."""
    length = ExpressionWrapper(F("job__walltime_seconds") * dt.timedelta(seconds=1), DurationField())
    late = Attempt.objects.filter(
        state=AttemptState.RUNNING, job__state=JobState.RUNNING, job__walltime_seconds__isnull=False
    ).annotate(ends=F("job__started_at") + length)
    attempt_ids = list(late.filter(ends__lte=now).order_by("pk").values_list("pk", flat=True))
    return sum(_end_if(pk, AttemptState.RUNNING, Cause.WALLTIME, message=_WALLTIME) for pk in attempt_ids)


_WALLTIME = "WalltimeExceeded: its walltime is over."


def expire_starts(now: dt.datetime) -> int:
    """Take back every attempt bound 15 minutes ago of which some member does not run; how many."""
    late = Attempt.objects.filter(state=AttemptState.BINDING, bound_at__lte=now - START_WITHIN)
    return sum(_give_up_start(pk) for pk in late.order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def _give_up_start(attempt_id: int) -> bool:
    """Name the pod that does not start and what it waits for; its node is avoided."""
    waiting = (
        Worker.objects.filter(attempt_id=attempt_id, phase__in=(WorkerPhase.PLANNED, WorkerPhase.PENDING))
        .select_related("node", "role")
        .order_by("pk")
        .first()
    )
    if waiting is None:
        return False
    why = waiting.reason or waiting.message or "no reason given"
    message = f"{waiting.role.name}-{waiting.index} on {waiting.node} did not start within 15 minutes: {why}."
    if _end_if(attempt_id, AttemptState.BINDING, Cause.REFUSED, message=message):
        avoid_nodes(waiting.attempt.job, [waiting.node_id] if waiting.node_id else [], reason=message)
        return True
    return False


@transaction.atomic
def _end_if(attempt_id: int, state: str, cause: Cause, *, message: str) -> bool:
    """End the attempt if it is still in `state` once locked."""
    attempt = lock_attempt(attempt_id)
    if attempt.state != state:
        return False
    end_attempt(attempt, cause, message=message)
    return True


@transaction.atomic
def order_node(node: Node, verb: str, actor: Any) -> NodeOrder:
    """Order a node cordoned or uncordoned; `Node.cordoned` follows once the informer has seen it.

    A contrary order that is still open is withdrawn, the same one stands.
    """
    verb = NodeVerb(verb)
    Node.objects.select_for_update(no_key=True).get(pk=node.pk)
    order = NodeOrder.objects.filter(node=node, state__in=OPEN_INTENTS).first()
    if order is not None and order.verb == verb:
        return order
    if order is not None:
        order.delete()
    order = NodeOrder.objects.create(
        cluster_id=node.cluster_id, node=node, verb=verb, by_user=actor, next_try=clock.now()
    )
    record(actor, f"node.{verb}", node)
    ring_executor(node.cluster_id)
    return order
