"""What the command palette finds by name: jobs, nodes and queues."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.urls import reverse

from muster.accounts.standing import Standing
from muster.clusters.models import Cluster
from muster.clusters.queries import visible_nodes
from muster.quotas.queries import visible_queues
from muster.workloads.queries import visible_jobs

EACH = 6


def search(standing: Standing, cluster: Cluster, words: str) -> list[dict[str, Any]]:
    """At most a handful of each kind, newest jobs first."""
    words = words.strip()
    if len(words) < 2:
        return []
    named = Q(name__icontains=words)
    jobs = visible_jobs(standing).filter(named | Q(pk=int(words) if words.isdecimal() else None)).order_by("-pk")[:EACH]
    nodes = visible_nodes(standing).filter(named, cluster=cluster).order_by("name")[:EACH]
    queues = visible_queues(standing).filter(named).order_by("name")[:EACH]
    return [
        *(_entry(job.name, reverse("web:job", args=[job.pk]), "Jobs", note=job.state) for job in jobs),
        *(_entry(node.name, reverse("web:node", args=[node.pk]), "Nodes") for node in nodes),
        *(_entry(queue.full_name, f"{reverse('web:jobs')}?queue={queue.name}", "Queues") for queue in queues),
    ]


_ICONS = {"Jobs": "jobs", "Nodes": "node", "Queues": "queues"}


def _entry(label: str, url: str, group: str, *, note: str = "") -> dict[str, Any]:
    return {"label": label, "url": url, "group": group, "icon": _ICONS[group], "note": note}
