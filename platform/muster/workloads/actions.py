"""Everything people do to jobs that touches neither a device nor an intent: submit, hold, release, reprioritise.

One function is one verb is one transaction. Cancelling lives in placements.actions: it writes a Stop.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.db import connection, transaction

from muster.accounts.standing import Standing, standing_of
from muster.audit import actions as audit
from muster.common import clock
from muster.common.choices import ChangeKind
from muster.common.errors import Conflict, Forbidden, Invalid, NotFound
from muster.common.events import record_change
from muster.quotas.queries import find_priority
from muster.workloads import spec as specs
from muster.workloads.choices import FINAL_JOB_STATES, Cause, JobState
from muster.workloads.drafts import Draft, draft_job
from muster.workloads.errors import KeyReused
from muster.workloads.models import IdempotencyKey, Job, JobDependency, JobShape, Role
from muster.workloads.queries import visible_jobs
from muster.workloads.spec.shape import digest
from muster.workloads.spec.units import cpu_milli
from muster.workloads.states import move, note_job

KEY_KEPT = dt.timedelta(hours=24)


def submit_job(
    user: Any,
    document: str | Mapping[str, Any],
    *,
    idempotency_key: str = "",
    judge: Callable[[Draft], str | None] | None = None,
) -> Job:
    """Create a job from a job file (YAML text or its values).

    `judge` is asked before anything is written: it raises to refuse, or returns a warning that the job's story then holds.
    The same key with the same file within 24 hours returns the first job.
    """
    body = _body_digest(document)
    if known := _known(user, idempotency_key, body):
        return known
    draft = draft_job(standing_of(user), document)
    warning = judge(draft) if judge else None
    with transaction.atomic():
        # Two requests with one key at the same moment: the second waits here and finds the first one's job.
        if idempotency_key:
            _lock_key(user, idempotency_key)
            if known := _known(user, idempotency_key, body):
                return known
        job = _create(user, draft)
        if idempotency_key:
            IdempotencyKey.objects.create(user=user, key=idempotency_key, body_digest=body, job=job)
        if warning:
            note_job(job, kind="warning", message=warning)
    return job


def _create(user: Any, draft: Draft) -> Job:
    spec = draft.spec
    roles = specs.roles_of(spec)
    held = spec.get("held", False)
    job = Job.objects.create(
        tenant=draft.queue.tenant,
        queue=draft.queue,
        cluster=draft.cluster,
        owner=user,
        name=spec["name"],
        spec=spec,
        source=draft.source,
        shape=_shape(draft.shape_body),
        kind=spec["kind"],
        priority=draft.priority,
        priority_class=draft.priority_class,
        state=JobState.HELD if held else JobState.QUEUED,
        state_cause=Cause.HOLD if held else Cause.SUBMIT,
        submitted_at=clock.now(),
        not_before=draft.not_before,
        walltime_seconds=spec.get("walltime"),
        retries=spec.get("retries", 0),
        gpus_wanted=draft.gpus_wanted,
        workers_wanted=sum(role["workers"] for role in roles),
    )
    Role.objects.bulk_create(_role(job, order, role) for order, role in enumerate(roles))
    earlier = {found.pk: found for found in draft.after}.values()
    JobDependency.objects.bulk_create(JobDependency(job=job, after=found) for found in earlier)
    note_job(job, kind="submitted", message=f"Submitted to {draft.queue.full_name}.", actor=user)
    record_change(job.cluster_id, ChangeKind.JOB, job.pk)
    audit.record(user, "job.submit", job, tenant_id=job.tenant_id, name=job.name, queue=draft.queue.full_name)
    return job


def _role(job: Job, order: int, role: dict[str, Any]) -> Role:
    return Role(
        job=job,
        order=order,
        name=role["name"],
        workers=role["workers"],
        min_workers=role["workers"],
        gpus=role["gpus"],
        cpu_milli=cpu_milli(role["cpus"]),
        memory_bytes=role["memory"],
        ends_job=role["ends_job"],
    )


def _shape(body: dict[str, Any]) -> JobShape:
    """The one row of this content; whoever comes second finds the first one's."""
    key = digest(body)
    found = JobShape.objects.filter(digest=key).first()
    if found is None:
        JobShape.objects.bulk_create([JobShape(digest=key, body=body)], ignore_conflicts=True)
        found = JobShape.objects.get(digest=key)
    return found


def _body_digest(document: str | Mapping[str, Any]) -> str:
    text = document if isinstance(document, str) else json.dumps(document, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _lock_key(user: Any, key: str) -> None:
    """Until the transaction ends nobody else works on this user's key.

    Two-number locks never meet the one-number ones of the cycle.
    """
    number = int.from_bytes(hashlib.sha256(f"{user.pk}:{key}".encode()).digest()[:4], signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [user.pk % 2**31, number])


def _known(user: Any, key: str, body: str) -> Job | None:
    if not key:
        return None
    if len(key) > 128:
        raise Invalid("An Idempotency-Key has at most 128 characters.")
    found = IdempotencyKey.objects.select_related("job").filter(user=user, key=key).first()
    if found is None:
        return None
    if found.created_at < clock.now() - KEY_KEPT:
        found.delete()
        return None
    if found.body_digest != body:
        raise KeyReused
    return found.job


def forget_keys() -> None:
    """Delete the keys that nobody may repeat any more."""
    IdempotencyKey.objects.filter(created_at__lt=clock.now() - KEY_KEPT).delete()


def hold_job(user: Any, job_id: int) -> Job:
    """Keep a queued job from starting until it is released."""
    return change_jobs(user, [job_id], _hold)[0]


def release_job(user: Any, job_id: int) -> Job:
    """Let a held job start."""
    return change_jobs(user, [job_id], _release)[0]


def set_priority(user: Any, job_id: int, priority: int | str) -> Job:
    """Give a job that has not ended another priority: a class's name or a number."""
    return set_priorities(user, [job_id], priority)[0]


def hold_jobs(user: Any, job_ids: Collection[int]) -> list[Job]:
    """Hold all of these jobs or none."""
    return change_jobs(user, job_ids, _hold)


def release_jobs(user: Any, job_ids: Collection[int]) -> list[Job]:
    """Release all of these jobs or none."""
    return change_jobs(user, job_ids, _release)


def set_priorities(user: Any, job_ids: Collection[int], priority: int | str) -> list[Job]:
    """Give all of these jobs another priority or none."""
    value, named = find_priority(priority)

    def reprioritise(job: Job, actor: Any) -> None:
        if job.state in FINAL_JOB_STATES:
            raise Conflict(f"{job.name} has ended; its priority means nothing any more.")
        before = job.priority
        job.priority, job.priority_class, job.sched_rev = value, named, job.sched_rev + 1
        job.spec["priority"] = value
        job.save(update_fields=["priority", "priority_class", "spec", "sched_rev"])
        record_change(job.cluster_id, ChangeKind.JOB, job.pk)
        note_job(job, kind="priority", message=f"Priority {before} → {value}.", actor=actor)
        audit.record(actor, "job.priority", job, tenant_id=job.tenant_id, before=before, after=value)

    return change_jobs(user, job_ids, reprioritise)


def _hold(job: Job, actor: Any) -> None:
    move(job, JobState.HELD, Cause.HOLD, message="Held.", actor=actor)
    audit.record(actor, "job.hold", job, tenant_id=job.tenant_id)


def _release(job: Job, actor: Any) -> None:
    move(job, JobState.QUEUED, Cause.RELEASE, message="Released.", actor=actor)
    audit.record(actor, "job.release", job, tenant_id=job.tenant_id)


@transaction.atomic
def change_jobs(user: Any, job_ids: Collection[int], change: Callable[[Job, Any], None]) -> list[Job]:
    """Do `change(job, user)` to all of these jobs or to none; a job that is not visible is not found."""
    jobs = lock_jobs(standing_of(user), job_ids)
    for job in jobs:
        change(job, user)
    return jobs


def lock_jobs(standing: Standing, job_ids: Collection[int]) -> list[Job]:
    """The jobs, locked in order of id for this transaction; raises NotFound or Forbidden naming the ids."""
    wanted = set(job_ids)
    jobs = list(visible_jobs(standing).filter(pk__in=wanted).order_by("pk").select_for_update(of=("self",)))
    if missing := wanted - {job.pk for job in jobs}:
        raise NotFound(f"There is no job {', '.join(map(str, sorted(missing)))}.")
    for job in jobs:
        if not standing.can_change_job(job.tenant_id, job.owner_id):
            raise Forbidden(f"You may look at {job.name}, not change it: it is another member's.")
    return jobs
