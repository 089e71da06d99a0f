"""The informer's only way to write what it saw of pods."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef

from muster.common import clock
from muster.common.bulk import update_rows
from muster.common.choices import ChangeKind, EventKind
from muster.common.events import job_topic, record_changes, record_events
from muster.placements.actions.devices import correct_devices
from muster.placements.actions.ending import ring_executor
from muster.placements.actions.seen import OrphanSeen, WorkerSeen
from muster.placements.actions.settling import settle
from muster.placements.choices import OPEN_INTENTS
from muster.placements.models import Orphan, Placement
from muster.placements.settlement import ENDED_PHASES
from muster.workloads.choices import AttemptState, WorkerPhase
from muster.workloads.models import Attempt, Worker

UNSTARTED = (WorkerPhase.PLANNED, WorkerPhase.PENDING)
OBSERVED = (
    "pod_uid",
    "phase",
    "is_stopping",
    "exit_code",
    "reason",
    "message",
    "started_at",
    "ended_at",
)


def observe_workers(cluster_id: int, seen: Sequence[WorkerSeen]) -> set[int]:
    """Write one batch of observations (the last one of a worker wins) and settle; the attempts whose pods changed.

    A pod of another uid than the worker's own is not his and is ignored; columns that are equal are not written. Attempts of
    which some pod only came to be, and waits to start, have nothing to settle.
    """
    latest = _last_words(seen)
    changed = _write_observations(cluster_id, latest)
    correct_devices(cluster_id, {pk: one.gpus for pk, one in latest.items() if one.gpus is not None})
    for attempt_id in sorted({worker.attempt_id for worker in changed if worker.phase not in UNSTARTED}):
        settle(attempt_id)
    return {worker.attempt_id for worker in changed}


def _last_words(seen: Sequence[WorkerSeen]) -> dict[int, WorkerSeen]:
    """The last observation of each worker; a finished pod that is deleted in the same batch has ended as it had ended."""
    latest: dict[int, WorkerSeen] = {}
    for one in seen:
        known = latest.get(one.worker_id)
        is_removal = one.phase == WorkerPhase.GONE and known is not None and known.uid == one.uid
        if known is None or not (is_removal and known.phase in ENDED_PHASES):
            latest[one.worker_id] = one
    return latest


@transaction.atomic
def _write_observations(cluster_id: int, latest: dict[int, WorkerSeen]) -> list[Worker]:
    """The workers of which anything is new, as they are now."""
    workers = list(
        Worker.objects.select_for_update(no_key=True, of=("self",))
        .filter(pk__in=latest, attempt__job__cluster_id=cluster_id)
        .select_related("attempt")
        .order_by("pk")
    )
    before = {worker.pk: worker.phase for worker in workers}
    changed = [worker for worker in workers if _take(worker, latest[worker.pk])]
    _tell_ends_apart(changed, latest)
    update_rows(changed, OBSERVED)
    ended = {w.attempt.job_id for w in changed if w.phase in ENDED_PHASES and before[w.pk] not in ENDED_PHASES}
    record_changes(cluster_id, ChangeKind.JOB, sorted(ended))
    _publish(changed)
    return changed


def _tell_ends_apart(workers: Iterable[Worker], seen: Iterable[int]) -> None:
    """Kubernetes tells ends in whole seconds; within one, the order of the events says who was first to fail."""
    place = {pk: number for number, pk in enumerate(seen)}
    for worker in workers:
        if worker.ended_at is not None and worker.ended_at.microsecond == 0:
            worker.ended_at += dt.timedelta(microseconds=1 + place[worker.pk])


def _take(worker: Worker, seen: WorkerSeen) -> bool:
    """Copy what was seen onto a worker; whether anything is new."""
    if worker.pod_uid and worker.pod_uid != seen.uid:
        return False
    if worker.phase in ENDED_PHASES and seen.phase not in (WorkerPhase.SUCCEEDED, WorkerPhase.FAILED):
        return False  # a finished pod that is deleted has ended as it had ended
    columns: dict[str, object] = {
        "pod_uid": seen.uid,
        "phase": seen.phase,
        "is_stopping": seen.is_stopping,
        "exit_code": seen.exit_code if seen.exit_code is not None else worker.exit_code,
        "reason": seen.reason[:120],
        "message": seen.message,
        "started_at": seen.started_at or worker.started_at,
        "ended_at": worker.ended_at or seen.ended_at or _end_of(seen),
    }
    new = {name: value for name, value in columns.items() if getattr(worker, name) != value}
    for name, value in new.items():
        setattr(worker, name, value)
    return bool(new)


def _end_of(seen: WorkerSeen) -> dt.datetime | None:
    return clock.now() if seen.phase in ENDED_PHASES else None


def _publish(workers: Iterable[Worker]) -> None:
    by_job: dict[int, list[int]] = {}
    for worker in workers:
        by_job.setdefault(worker.attempt.job_id, []).append(worker.pk)
    for job_id, worker_ids in by_job.items():
        record_events(job_topic(job_id), EventKind.WORKER, worker_ids)


def attempts_without_pods(cluster_id: int, seen_uids: Collection[str], *, listed_at: dt.datetime) -> set[int]:
    """After a full list begun at `listed_at`: workers created before it whose pod is not in it are gone; their attempts, settled.

    Attempts with an open Placement, or one closed after the list began, are the executor's and left alone.
    """
    busy = Placement.objects.filter(attempt=OuterRef("attempt"), state__in=OPEN_INTENTS)
    late = Placement.objects.filter(attempt=OuterRef("attempt"), finished_at__gte=listed_at)
    workers = (
        Worker.objects.filter(attempt__job__cluster_id=cluster_id)
        .exclude(attempt__state__in=(AttemptState.ENDED, AttemptState.NOMINATED))
        .exclude(phase__in=ENDED_PHASES)
        .exclude(Exists(busy))
        .exclude(Exists(late))
        .exclude(pod_uid="")
        .values_list("pk", "pod_uid")
    )
    uids = set(seen_uids)
    missing = [
        WorkerSeen(pk, uid, WorkerPhase.GONE, message="not in the list of pods")
        for pk, uid in workers.order_by("pk")
        if uid not in uids
    ]
    return observe_workers(cluster_id, missing)


@transaction.atomic
def record_orphans(cluster_id: int, seen: Sequence[OrphanSeen]) -> int:
    """Order the deletion of objects of ours without a live attempt; how many are new."""
    known = set(
        Orphan.objects.filter(cluster_id=cluster_id, uid__in=[one.uid for one in seen]).values_list("uid", flat=True)
    )
    now = clock.now()
    rows = [
        Orphan(cluster_id=cluster_id, kind=one.kind, namespace=one.namespace, name=one.name, uid=one.uid, next_try=now)
        for one in seen
        if one.uid not in known
    ]
    Orphan.objects.bulk_create(rows, ignore_conflicts=True)
    if rows:
        ring_executor(cluster_id)
    return len(rows)


def live_attempt_ids(cluster_id: int) -> set[int]:
    """Attempts whose objects in the cluster are wanted there: not ended, or with an open intent that cleans up."""
    attempts = Attempt.objects.filter(job__cluster_id=cluster_id)
    live = attempts.exclude(state=AttemptState.ENDED) | attempts.filter(stops__state__in=OPEN_INTENTS)
    return set((live | attempts.filter(placements__state__in=OPEN_INTENTS)).values_list("pk", flat=True))
