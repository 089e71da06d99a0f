"""Why jobs wait: one row per reason, shape and queue; a job's pointer is written only when it changes."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import orjson

from muster.common.choices import EventKind
from muster.common.events import job_topic, jobs_topic, record_mixed_events
from muster.placements.load import Loaded
from muster.placements.models import JobVerdict, Verdict
from muster.workloads.models import Job
from scheduler.messages import funnel_lines, message
from scheduler.model.plan import Plan
from scheduler.model.verdict import Reason
from scheduler.model.verdict import Verdict as Decided

BATCH = 2000


@dataclass(frozen=True, slots=True)
class _Class:
    """What jobs share that wait for one reason."""

    shape_id: int
    queue_id: int
    decided: Decided

    @property
    def digest(self) -> str:
        """Of the reason and what it is about: figures that move with every start leave it, and the pointers, as they are."""
        about = self.decided
        quota = (about.quota.queue, about.quota.resource) if about.quota else None
        return hashlib.sha256(orjson.dumps([about.reason, about.role, about.level, quota])).hexdigest()

    @property
    def key(self) -> tuple[int, int, str]:
        return self.shape_id, self.queue_id, self.digest


def write_verdicts(loaded: Loaded, plan: Plan, now: dt.datetime) -> int:
    """Bring verdict rows and pointers to what the plan says; how many pointers changed.

    One that the plan would have started, but whose unit was dropped, keeps the verdict it had.
    """
    of_job = _classes(loaded, plan)
    ids = _write_classes(loaded, of_job.values())
    wanted = {job: ids[one.key] for job, one in of_job.items()}
    return _point(loaded, wanted, plan.starts, now)


def _classes(loaded: Loaded, plan: Plan) -> dict[int, _Class]:
    """The class of every job that waits."""
    waiting, shape_keys = loaded.snapshot.waiting, loaded.kept.shape_keys
    known: dict[tuple[int, int, int], _Class] = {}
    of_job: dict[int, _Class] = {}
    for job, queue, shape, number in zip(
        waiting.key.tolist(), waiting.queue.tolist(), map(id, waiting.shape), plan.verdict_of.tolist(), strict=True
    ):
        if number < 0:
            continue
        key = (shape, queue, number)
        if key not in known:
            known[key] = _Class(shape_keys[shape], queue, plan.verdicts[number])
        of_job[job] = known[key]
    return of_job


def _write_classes(loaded: Loaded, classes: Iterable[_Class]) -> dict[tuple[int, int, str], int]:
    """Rows for these classes, with the figures as they are now; their pks by (shape, queue, digest)."""
    wanted = {one.key: one for one in classes}
    stored = {
        (row.shape_id, row.queue_id, row.digest): row
        for row in Verdict.objects.filter(cluster_id=loaded.cluster_id, shape__in={key[0] for key in wanted})
    }
    columns = {key: _columns(loaded, one.decided) for key, one in wanted.items()}
    changed = [row for key, row in stored.items() if key in wanted and _update(row, columns[key])]
    Verdict.objects.bulk_update(changed, ["message", "fields", "funnel", "helps"], batch_size=BATCH)
    new = [_row(loaded.cluster_id, one, columns[key]) for key, one in wanted.items() if key not in stored]
    for row in Verdict.objects.bulk_create(new, batch_size=BATCH):
        stored[row.shape_id, row.queue_id, row.digest] = row
    return {key: row.pk for key, row in stored.items()}


def _row(cluster_id: int, one: _Class, columns: Mapping[str, Any]) -> Verdict:
    return Verdict(
        cluster_id=cluster_id,
        shape_id=one.shape_id,
        queue_id=one.queue_id,
        digest=one.digest,
        reason=one.decided.reason,
        **columns,
    )


def _update(row: Verdict, columns: Mapping[str, Any]) -> bool:
    """Copy the figures onto a row; whether any changed."""
    changed = [name for name, value in columns.items() if getattr(row, name) != value]
    for name in changed:
        setattr(row, name, columns[name])
    return bool(changed)


def _columns(loaded: Loaded, decided: Decided) -> dict[str, Any]:
    """What the page shows: a sentence, its figures, the nodes left after each filter, what would help."""
    lines = funnel_lines(decided.funnel)
    return {
        "message": _sentence(loaded, decided),
        "fields": _fields(decided),
        "funnel": [asdict(step) | {"line": line} for step, line in zip(decided.funnel, lines, strict=True)],
        "helps": [asdict(one) for one in decided.help],
    }


def _sentence(loaded: Loaded, decided: Decided) -> str:
    if decided.reason == Reason.BACKOFF:
        # Jobs of one class wait until different times; each job's page has its own.
        return "Waits out a pause after an attempt that failed."
    snapshot, in_front = loaded.snapshot, decided.blocked_by
    row = int(np.searchsorted(snapshot.waiting.key, in_front))
    return message(
        decided,
        queues={queue.key: queue.name for queue in snapshot.queues},
        jobs={in_front: snapshot.waiting.name[row]} if in_front else {},
    )


def _fields(decided: Decided) -> dict[str, Any]:
    given = {name: getattr(decided, name) for name in ("role", "asked", "free", "level", "blocked_by")}
    fields = {name: value for name, value in given.items() if value}
    return fields | ({"quota": asdict(decided.quota)} if decided.quota else {})


def _point(loaded: Loaded, wanted: Mapping[int, int], starts: Mapping[int, float], now: dt.datetime) -> int:
    """Write the pointers that differ, and drop those of jobs that wait no more."""
    standing = {
        job: (verdict, starts_at)
        for job, verdict, starts_at in JobVerdict.objects.filter(verdict__cluster_id=loaded.cluster_id).values_list(
            "job_id", "verdict_id", "starts_at"
        )
    }
    at = {job: dt.datetime.fromtimestamp(when, dt.UTC) for job, when in starts.items()}
    changed = [job for job, verdict in wanted.items() if standing.get(job) != (verdict, at.get(job))]
    rows = [JobVerdict(job_id=job, verdict_id=wanted[job], since=now, starts_at=at.get(job)) for job in changed]
    JobVerdict.objects.bulk_create(
        rows,
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["job"],
        update_fields=["verdict", "since", "starts_at"],
    )
    waiting = set(loaded.snapshot.waiting.key.tolist())
    over = [job for job in standing if job not in waiting]
    if over:
        JobVerdict.objects.filter(job__in=over).delete()
    _publish(changed)
    return len(changed)


def _publish(jobs: list[int]) -> None:
    tenants = Job.objects.filter(pk__in=jobs).values_list("pk", "tenant_id")
    record_mixed_events(
        (topic, EventKind.JOB, job) for job, tenant in tenants for topic in (job_topic(job), jobs_topic(tenant))
    )
