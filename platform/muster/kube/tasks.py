"""The executor's doorbells. Both return at once: the work is done by the process's own threads (executor/drain.py)."""

from __future__ import annotations

from celery import shared_task

from muster.common import bells
from muster.kube.executor.drain import drain, drain_all
from muster.kube.streams.store import prune


@shared_task(name="muster.kube.tasks.execute")
def execute(cluster_id: int) -> None:
    """Intents of this cluster may be due."""
    bells.answered(f"executor:{cluster_id}")
    drain(cluster_id)


@shared_task(name="muster.kube.tasks.sweep")
def sweep() -> None:
    """Every few seconds: retries that are due, rings that were lost, leases of processes that died."""
    drain_all()


@shared_task(name="muster.kube.tasks.prune_logs")
def prune_logs() -> None:
    """Once an hour: logs kept for 30 days go."""
    prune()
