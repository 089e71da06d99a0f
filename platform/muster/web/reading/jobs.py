"""The list of jobs: filtered, ordered and paged by the address alone, so that a link is a saved view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.http import QueryDict

from muster.accounts.queries import visible_tenants
from muster.accounts.standing import Standing
from muster.web.reading.pages import Page, base_of, read_page
from muster.workloads.choices import ACTIVE_JOB_STATES, JobState
from muster.workloads.models import Job
from muster.workloads.queries import counts_by, counts_by_state, visible_jobs, with_readiness

ORDERS = {
    "name": "name",
    "queue": "queue__name",
    "owner": "owner__username",
    "state": "state",
    "gpus": "gpus_wanted",
    "priority": "priority",
    "submitted": "submitted_at",
}
DEFAULT_ORDER = "-submitted"
TOPICS = 12
"""A page that shows more tenants than this follows the first of them only."""
GROUPS = {
    "": ("All", tuple(JobState)),
    "waiting": ("Waiting", (JobState.QUEUED,)),
    "running": ("Running", ACTIVE_JOB_STATES),
    "held": ("Held", (JobState.HELD,)),
    "failed": ("Failed", (JobState.FAILED,)),
    "done": ("Done", (JobState.SUCCEEDED, JobState.CANCELLED)),
}


@dataclass(frozen=True)
class Group:
    """A tab over the list: a group of states with its count and address."""

    key: str
    label: str
    count: int
    url: str
    is_current: bool


def job_list(standing: Standing, cluster_id: int | None, query: QueryDict) -> dict[str, Any]:
    """Everything the page shows for this address."""
    everything = visible_jobs(standing)
    everything = everything.filter(cluster_id=cluster_id) if cluster_id else everything
    named = _filtered(everything, query)
    group = query.get("state", "") if query.get("state", "") in GROUPS else ""
    ordering = query.get("ordering", DEFAULT_ORDER)
    ordering = ordering if ordering.lstrip("-") in ORDERS else DEFAULT_ORDER
    chosen = with_readiness(named.filter(state__in=GROUPS[group][1])).select_related("standing__verdict")
    return {
        "page": _page(chosen, query, ordering),
        "groups": _groups(named, query, group),
        "queues": counts_by(everything, "queue__name"),
        "owners": counts_by(everything, "owner__username"),
        "ordering": ordering,
        "base": base_of(query, "ordering"),
        "q": query.get("q", ""),
        "queue": query.get("queue", ""),
        "owner": query.get("owner", ""),
        "state": group,
        "topics": list(visible_tenants(standing).values_list("pk", flat=True)[:TOPICS]),
        "is_filtered": any(query.get(name) for name in ("q", "queue", "owner", "state")),
    }


def _filtered(jobs: QuerySet[Job], query: QueryDict) -> QuerySet[Job]:
    if words := query.get("q", "").strip():
        jobs = jobs.filter(Q(name__icontains=words) | Q(pk=int(words) if words.isdecimal() else None))
    if queue := query.get("queue"):
        jobs = jobs.filter(queue__name=queue)
    if owner := query.get("owner"):
        jobs = jobs.filter(owner__username=owner)
    return jobs


def _page(jobs: QuerySet[Job], query: QueryDict, ordering: str) -> Page:
    return read_page(jobs, query, field=ORDERS[ordering.lstrip("-")], descending=ordering.startswith("-"))


def _groups(jobs: QuerySet[Job], query: QueryDict, current: str) -> list[Group]:
    counts = counts_by_state(jobs)
    base = base_of(query, "state")
    return [
        Group(key, label, sum(counts[state] for state in states), f"{base}state={key}", key == current)
        for key, (label, states) in GROUPS.items()
    ]
