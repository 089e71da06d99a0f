"""The overview: a cluster's figures, what waits longest, and what changed lately."""

from __future__ import annotations

from typing import Any

from muster.accounts.standing import Standing
from muster.clusters.models import Cluster
from muster.placements.objects import overview as figures
from muster.placements.queries import free_whole_nodes
from muster.web.reading.fragmentation import fits_in_short
from muster.web.words import event_level
from muster.workloads.choices import JobState
from muster.workloads.models import JobEvent
from muster.workloads.queries import visible_jobs

SHOWN = 8


def overview(standing: Standing, cluster: Cluster) -> dict[str, Any]:
    """Everything the page shows."""
    found = figures.read(0, [cluster.pk])
    figure = found[0] if found else {}
    gpus = figure.get("gpus") or {}
    jobs = visible_jobs(standing).filter(cluster=cluster)
    waiting = jobs.filter(state=JobState.QUEUED).select_related("standing__verdict")
    return {
        "figure": figure,
        "gpus": gpus,
        "free": max(0, gpus["ready"] - gpus["used"]) if gpus else None,
        "whole_nodes": free_whole_nodes(cluster.pk),
        "fits": fits_in_short(cluster),
        "running": _sum(figure, JobState.RUNNING, JobState.STARTING, JobState.STOPPING),
        "waiting": _sum(figure, JobState.QUEUED),
        "held": _sum(figure, JobState.HELD),
        "queued_jobs": list(waiting.order_by("submitted_at")[:SHOWN]),
        "events": recent_events(standing, cluster),
    }


def _sum(figure: dict[str, Any], *states: str) -> int:
    return sum(figure.get("jobs", {}).get(state, 0) for state in states)


def recent_events(standing: Standing, cluster: Cluster) -> list[dict[str, Any]]:
    """The last things that happened to jobs one may see."""
    rows = JobEvent.objects.filter(job__in=visible_jobs(standing).filter(cluster=cluster))
    rows = rows.select_related("job").order_by("-pk")[:SHOWN]
    return [{"job": row.job, "text": row.message, "at": row.at, "level": event_level(row.kind)} for row in rows]
