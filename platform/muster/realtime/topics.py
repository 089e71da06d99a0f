"""The live topics: who may watch one, what it holds, and how the rows behind an Event become objects.

An object is `{id: "kind:pk", version, …}`, absolute and whole. Shared topics (overview, map, queues) carry only what every member
may see: jobs, users and workloads appear there as opaque ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from muster.accounts.models import Membership
from muster.common.choices import EventKind
from muster.fragmentation import objects as fragmentation
from muster.placements.objects import jobs, overview, queues, world
from muster.workloads.models import Job

Objects = list[dict[str, Any]]
Reader = Callable[[int, Iterable[int]], Objects]


@dataclass(frozen=True)
class Topic:
    """One kind of topic; `key` below is the number in its name (0 where it has none)."""

    pattern: re.Pattern[str]
    may_watch: Callable[[Any, int], bool]
    everything: Callable[[int], Objects]
    readers: dict[str, Reader]


def _is_member(user: Any, _key: int) -> bool:
    return bool(user.is_staff or Membership.objects.filter(user=user).exists())


def _is_in_tenant(user: Any, tenant_id: int) -> bool:
    return bool(user.is_staff or Membership.objects.filter(user=user, tenant_id=tenant_id).exists())


def _sees_job(user: Any, job_id: int) -> bool:
    tenant_id = Job.objects.filter(pk=job_id).values_list("tenant_id", flat=True).first()
    return tenant_id is not None and _is_in_tenant(user, tenant_id)


TOPICS = (
    Topic(re.compile(r"overview()"), _is_member, overview.everything, {EventKind.CLUSTER: overview.read}),
    Topic(re.compile(r"cluster/(\d+)/map"), _is_member, world.everything, {EventKind.NODE: world.read}),
    Topic(
        re.compile(r"cluster/(\d+)/fragmentation"),
        _is_member,
        fragmentation.everything,
        {EventKind.FRAGMENTATION: fragmentation.read},
    ),
    Topic(re.compile(r"queues/(\d+)"), _is_member, queues.everything, {EventKind.QUEUE: queues.read}),
    Topic(re.compile(r"tenant/(\d+)/jobs"), _is_in_tenant, jobs.everything, {EventKind.JOB: jobs.read_rows}),
    Topic(
        re.compile(r"job/(\d+)"),
        _sees_job,
        jobs.everything_of_one,
        {EventKind.JOB: jobs.read_one, EventKind.WORKER: jobs.read_workers, EventKind.JOB_EVENT: jobs.read_events},
    ),
)


def find(name: str) -> tuple[Topic, int] | None:
    """The topic of that name and its key, or None."""
    for topic in TOPICS:
        match = topic.pattern.fullmatch(name)
        if match:
            return topic, int(match[1] or 0)
    return None


def may_watch(user: Any, name: str) -> bool:
    """Whether this user may see this topic now; unknown topics are nobody's."""
    found = find(name)
    return bool(found and user.is_authenticated and user.is_active and found[0].may_watch(user, found[1]))


def read_everything(name: str) -> Objects:
    """Every object of the topic, without versions."""
    found = find(name)
    return found[0].everything(found[1]) if found else []


def read_some(name: str, kind: str, ids: Iterable[int]) -> tuple[Objects, list[str]]:
    """The objects of `kind` with these ids as they are now, and the names of those that are no longer in the topic."""
    ids = set(ids)
    found = find(name)
    reader = found[0].readers.get(kind) if found else None
    objects = reader(found[1], ids) if found and reader else []
    there = {thing["id"] for thing in objects}
    return objects, sorted({f"{kind}:{pk}" for pk in ids} - there)
