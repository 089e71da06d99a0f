"""What the executor reports of a Placement on its way: created, bound, refused; and the logs it stored."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from muster.common import clock
from muster.common.bulk import update_rows
from muster.common.choices import EventKind
from muster.common.events import job_topic, record_event
from muster.placements.actions.ending import avoid_nodes, end_attempt, lock_attempt
from muster.placements.actions.leases import check_lease
from muster.placements.actions.seen import PodMade
from muster.placements.models import Placement
from muster.workloads.choices import AttemptState, Cause
from muster.workloads.models import StoredLog, Worker
from muster.workloads.states import move

LAST_LINES_BYTES = 16_384


@transaction.atomic
def record_created(placement: Placement, made: Mapping[int, PodMade]) -> None:
    """Note name and uid of each pod accepted, by its worker's pk; once all workers have one the attempt is binding.

    Raises LeaseLost when another process has the placement by now.
    """
    attempt = lock_attempt(placement.attempt_id)
    check_lease(placement)
    workers = list(placement.workers.filter(pk__in=made).order_by("pk"))
    for worker in workers:
        worker.pod_name, worker.pod_uid = made[worker.pk].name, made[worker.pk].uid
    update_rows(workers, ["pod_name", "pod_uid"])
    if attempt.state == AttemptState.CREATING and not placement.workers.filter(pod_uid="").exists():
        move(attempt, AttemptState.BINDING, Cause.OBSERVED)


@transaction.atomic
def record_bound(placement: Placement) -> None:
    """Every pod is bound: the start clock runs from here. Call `finish_intent` next."""
    attempt = lock_attempt(placement.attempt_id)
    check_lease(placement)
    attempt.bound_at = clock.now()
    attempt.save(update_fields=["bound_at"])


@transaction.atomic
def refuse_placement(placement: Placement, message: str, *, node_id: int | None = None) -> None:
    """The cluster refused something: the attempt is unwinding from here, `node_id` avoided for 15 minutes.

    The claim stays with the caller, who deletes owner and pods, then calls `finish_intent(placement, IntentState.UNDONE)`.
    The job is queued again, with back-off and this message, once every pod is seen gone. An attempt that is being ended
    already, by a cancel for instance, stays as it is.
    """
    attempt = lock_attempt(placement.attempt_id)
    check_lease(placement)
    if attempt.state in (AttemptState.CREATING, AttemptState.BINDING):
        avoid_nodes(attempt.job, [] if node_id is None else [node_id], reason=message)
        end_attempt(attempt, Cause.REFUSED, message=message)


@transaction.atomic
def store_log(worker: Worker, *, name: str, size: int, is_cut: bool, last_lines: str) -> None:
    """Note where a worker's log lies (`name` in the log storage) and keep its last lines on the worker."""
    stored = {"name": name, "size": size, "is_cut": is_cut, "stored_at": clock.now()}
    StoredLog.objects.update_or_create(worker=worker, defaults=stored)
    worker.last_lines = last_lines[-LAST_LINES_BYTES:]
    worker.save(update_fields=["last_lines"])
    record_event(job_topic(worker.attempt.job_id), EventKind.WORKER, worker.pk)
