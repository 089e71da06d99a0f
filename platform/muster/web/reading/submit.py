"""The submit form: templates, the queues one may use, and the file to begin with."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from muster.accounts.standing import Standing
from muster.clusters.models import Flavor, Gpu
from muster.quotas.models import PriorityClass, Queue
from muster.quotas.queries import submit_queues
from muster.web.job_templates import TEMPLATES, JobTemplate, fill
from muster.web.reading.job import job_source
from muster.web.templatetags.mu import model
from muster.workloads.queries import visible_job


@dataclass(frozen=True)
class Choice:
    """A template with its file, filled in for this person."""

    template: JobTemplate
    text: str
    is_chosen: bool


def submit_form(standing: Standing, query: QueryDict) -> dict[str, Any]:
    """Everything the page shows; `query` may hold the `source` sent before, a job to `clone`, or a `queue`."""
    queues = leaf_queues(standing)
    queue = query.get("queue") or next((one.name for one in queues), "")
    source = query.get("source") or _cloned(standing, query.get("clone", ""))
    choices = [
        Choice(one, fill(one, queue), is_chosen=not source and index == 0) for index, one in enumerate(TEMPLATES)
    ]
    flavors = list(Flavor.objects.filter(pk__in=_flavors_present()))
    return {
        "choices": choices,
        "source": source or choices[0].text,
        "queues": queues,
        "flavors": flavors,
        "needs": gpu_needs(flavors),
        "priorities": list(PriorityClass.objects.all()),
        "key": query.get("key") or uuid.uuid4().hex,
    }


def gpu_needs(flavors: Sequence[Flavor]) -> dict[str, Any]:
    """What GPUs may be chosen by: of each feature what some GPU of the clusters has."""
    models: dict[int, list[str]] = defaultdict(list)
    for flavor in flavors:
        if flavor.compute_capability:
            models[flavor.compute_capability].append(model(flavor.name))
    return {
        "vendors": sorted({flavor.vendor for flavor in flavors}),
        "precisions": sorted({one for flavor in flavors for one in flavor.precisions}),
        "capabilities": [
            (f"{tenths / 10:g}", f"{tenths / 10:.1f} ({', '.join(dict.fromkeys(models[tenths]))})")
            for tenths in sorted(models)
        ],
    }


def leaf_queues(standing: Standing) -> list[Queue]:
    """The queues that take this person's jobs."""
    queues = list(submit_queues(standing).filter(children=None).order_by("tenant__name", "name"))
    return [queue for queue in queues if standing.can_submit(queue.tenant_id)]


def _flavors_present() -> list[int]:
    return list(Gpu.objects.exclude(flavor=None).order_by().values_list("flavor_id", flat=True).distinct())


def _cloned(standing: Standing, job_id: str) -> str:
    return job_source(visible_job(standing, int(job_id))) if job_id.isdecimal() else ""
