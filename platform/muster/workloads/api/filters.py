"""Filters of jobs and queues."""

from muster.common.api.filters import SuffixFilterSet, choice, moment, number, text
from muster.workloads.choices import JobKind, JobState


class JobFilters(SuffixFilterSet):
    """By whose it is, where it stands and what it asks for."""

    columns = {
        "id": number("id"),
        "name": text("name"),
        "tenant": text("tenant__name"),
        "queue": text("queue__name", above="queue__tenant__name"),
        "cluster": text("cluster__name"),
        "owner": text("owner__username"),
        "kind": choice("kind", JobKind.choices),
        "state": choice("state", JobState.choices),
        "priority": number("priority"),
        "gpus": number("gpus_wanted"),
        "workers": number("workers_wanted"),
        "submitted_at": moment("submitted_at"),
        "started_at": moment("started_at"),
        "ended_at": moment("ended_at"),
    }


class QueueFilters(SuffixFilterSet):
    """By tenant, name and place in the tree."""

    columns = {"name": text("name"), "tenant": text("tenant__name"), "parent": text("parent__name")}
