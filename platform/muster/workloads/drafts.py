"""From a job file to everything its rows need: reads, checks and resolves names; writes nothing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.dateparse import parse_datetime

from muster.accounts.standing import Standing
from muster.clusters.models import Cluster, Flavor
from muster.clusters.queries import flavors_for, share_of_smallest
from muster.common import clock
from muster.common.errors import Forbidden, Invalid
from muster.quotas.models import PriorityClass, Queue
from muster.quotas.queries import find_priority, find_queue
from muster.workloads import spec as specs
from muster.workloads.choices import JobState
from muster.workloads.models import Job
from muster.workloads.spec import units
from muster.workloads.spec.defaults import FindShare, Share, fill_defaults, part_of_gpu


@dataclass(frozen=True)
class Draft:
    """A job that could be submitted: its canonical spec with every name in it resolved to a row."""

    spec: dict[str, Any]
    source: str
    queue: Queue
    cluster: Cluster
    priority: int
    priority_class: PriorityClass | None
    after: tuple[Job, ...]
    not_before: dt.datetime | None
    gpus_wanted: Any

    @property
    def shape_body(self) -> dict[str, Any]:
        """What decides where it can go."""
        return specs.shape_body(self.spec)


def draft_job(standing: Standing, document: str | Mapping[str, Any] | specs.Document) -> Draft:
    """Read, check and resolve a job file for this user; raises Invalid or Forbidden with the keys that are wrong."""
    read = specs.read(document)
    specs.check(read)
    spec = specs.canonical(read.data)
    queue = find_queue(standing, spec["queue"])
    if not standing.can_submit(queue.tenant_id):
        raise Forbidden(f"You may look at {queue.tenant.name}, not submit to it.")
    cluster = find_cluster(queue, spec.get("cluster"))
    find_share = share_finder(cluster, spec.get("gpu", {}))
    spec = fill_defaults(spec, find_share)
    priority, priority_class = find_priority(spec.get("priority"))
    spec |= {"queue": queue.full_name, "cluster": cluster.name, "priority": priority}
    return Draft(
        spec=spec,
        source=read.text,
        queue=queue,
        cluster=cluster,
        priority=priority,
        priority_class=priority_class,
        after=tuple(find_earlier(queue.tenant_id, name) for name in spec.get("after", ())),
        not_before=moment(spec.get("not_before")),
        gpus_wanted=specs.gpus_wanted(spec, lambda _bytes: part_of_gpu(spec, find_share)),
    )


def find_cluster(queue: Queue, name: str | None) -> Cluster:
    """The cluster named, else the first that gives the queue a quota, else the first there is."""
    enabled = Cluster.objects.filter(enabled=True)
    if name is not None:
        found = enabled.filter(name=name).first()
        if found is None:
            message = f"There is no cluster `{name}`."
            raise Invalid(message, fields={"cluster": [message]})
        return found
    chosen = enabled.filter(quotas__queue=queue).first() or enabled.first()
    if chosen is None:
        raise Invalid("No cluster is registered yet: an administrator has to add one.")
    return chosen


def share_finder(cluster: Cluster, needs: dict[str, Any]) -> FindShare:
    """Looks up one GPU's share of the smallest node of this cluster that meets `needs`."""

    def find_share(gpus: int) -> Share | None:
        found = share_of_smallest(cluster.pk, needs, gpus=gpus)
        if found is None:
            return None
        smallest = min(flavors_for(needs), key=_memory)
        return Share(found.cpu_milli, found.memory_bytes, smallest.memory_bytes)

    return find_share


def _memory(flavor: Flavor) -> int:
    return flavor.memory_bytes


def find_earlier(tenant_id: int, name: int | str) -> Job:
    """The job that `after` means: by number, or the latest of that name, in the submitter's tenant."""
    jobs = Job.objects.filter(tenant_id=tenant_id)
    job = jobs.filter(**({"pk": name} if isinstance(name, int) else {"name": name})).first()
    if job is None:
        message = f"There is no job `{name}` in this tenant to wait for."
    elif job.state in (JobState.FAILED, JobState.CANCELLED):
        message = f"`{name}` has {'failed' if job.state == JobState.FAILED else 'been cancelled'}: this job would never start."
    else:
        return job
    raise Invalid(message, fields={"after": [message]})


def moment(value: float | str | None) -> dt.datetime | None:
    """`not_before` as a point in time: given as one, or as a time from now."""
    if value is None:
        return None
    if isinstance(value, str):
        parsed = parse_datetime(value)
        if parsed is not None:
            return parsed if parsed.tzinfo else parsed.replace(tzinfo=dt.UTC)
    return clock.now() + dt.timedelta(seconds=units.seconds(value))
