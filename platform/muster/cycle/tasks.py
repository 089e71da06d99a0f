"""The doors that the bells ring at."""

from __future__ import annotations

import datetime as dt

import structlog
from celery import shared_task

from muster.clusters.models import Cluster
from muster.common import bells, clock
from muster.cycle import metrics
from muster.cycle.run import run
from muster.placements.actions import expire_starts, expire_walltimes, forget_avoided
from muster.placements.load.changes import prune_changes

log = structlog.get_logger(__name__)

CHANGES_KEPT = dt.timedelta(minutes=10)


@shared_task
def run_cycle(cluster_id: int) -> None:
    """Run one cycle of a cluster; whatever goes wrong in it stays with this cluster and is tried again by the next tick."""
    bells.answered(f"cycle:{cluster_id}")
    name = Cluster.objects.filter(pk=cluster_id, enabled=True).values_list("name", flat=True).first()
    if name is None:
        return
    try:
        outcome = run(cluster_id)
    except Exception:
        metrics.CYCLES.labels(name, "failed").inc()
        log.exception("cycle.failed", cluster=name)
        return
    metrics.CYCLES.labels(name, "busy" if outcome is None else "done").inc()


@shared_task
def tick() -> None:
    """Every 5 s: ring every enabled cluster, whatever rings were lost, and act on what only the clock changes."""
    for cluster_id in Cluster.objects.filter(enabled=True).values_list("pk", flat=True):
        bells.ring_cycle(cluster_id)
    sweep(clock.now())


@shared_task
def learn_mixes() -> None:
    """Now and then: learn what is asked for, where the last lesson is a day old."""
    # Brings SciPy, which no cycle needs.
    from muster.cycle.learning import learn_all

    learn_all(clock.now())


def sweep(now: dt.datetime) -> None:
    """Ended walltimes, starts that took too long, nodes avoided long enough, changes that all have followed."""
    expire_walltimes(now)
    expire_starts(now)
    forget_avoided(now)
    prune_changes(now - CHANGES_KEPT)
