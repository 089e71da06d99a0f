"""Learning the mix of a cluster from the jobs of the last days."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence

from django.db.models import Count

from muster.clusters.models import Cluster
from muster.cycle.mix import typical_mix, usable_share
from muster.fragmentation.actions import store_mix
from muster.fragmentation.mixes import told
from muster.fragmentation.models import LearnedMix
from muster.placements.load import load
from muster.placements.load.shapes import job_shape
from muster.workloads.models import Job, JobShape
from scheduler.model.hardware import GpuModel
from scheduler.score.frag.learn import task_of
from scheduler.score.frag.mix import TaskShape

FROM_THE_LAST = dt.timedelta(days=7)
EVERY = dt.timedelta(days=1)


def learn_all(now: dt.datetime) -> int:
    """Learn the mix of every enabled cluster whose last lesson is a day old; how many that were."""
    fresh = LearnedMix.objects.filter(at__gt=now - EVERY).values("cluster_id")
    due = Cluster.objects.filter(enabled=True).exclude(pk__in=fresh)
    return sum(learn(cluster_id, now) for cluster_id in due.values_list("pk", flat=True))


def learn(cluster_id: int, now: dt.datetime) -> bool:
    """Learn one cluster's mix; false where no job of the last days asked for GPUs."""
    counts = count_tasks(cluster_id, now, load(cluster_id).snapshot.layout.models)
    if not counts:
        return False
    mix = typical_mix(counts)
    store_mix(cluster_id, now, told(mix), usable_share(mix).tolist())
    return True


def count_tasks(cluster_id: int, now: dt.datetime, models: Sequence[GpuModel]) -> Counter[TaskShape]:
    """The GPU workers that were asked for, by what each asked for."""
    jobs = Job.objects.filter(cluster_id=cluster_id, submitted_at__gt=now - FROM_THE_LAST)
    times = dict(jobs.order_by().values_list("shape_id").annotate(Count("pk")))
    counts = Counter[TaskShape]()
    for pk, body in JobShape.objects.filter(pk__in=times).order_by("pk").values_list("pk", "body"):
        for role in job_shape(body).roles:
            task = task_of(role, models)
            if task is not None and task.gpus:
                counts[task] += times[pk] * role.workers
    return counts
