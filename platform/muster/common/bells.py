"""Doorbells: tell a worker that rows wait for it. A lost ring costs one 5 s tick, never a row.

Tasks are named, not imported: this module lies below the apps that own them.
"""

from __future__ import annotations

import functools

import redis
import structlog
from celery import current_app
from django.conf import settings

log = structlog.get_logger(__name__)

RING_EXPIRES_MS = 5000


@functools.cache
def client() -> redis.Redis:
    """The process's Redis connection pool for doorbells and short-lived keys."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)


def rung_key(name: str) -> str:
    """The key that says a bell is already ringing; the task deletes it first thing."""
    return f"{name}:rung"


def _ring(name: str, task: str, args: list[object], queue: str) -> None:
    """Send `task` unless one is already on its way; Redis being down is survived (the beat rings again)."""
    try:
        if client().set(rung_key(name), 1, nx=True, px=RING_EXPIRES_MS):
            current_app.send_task(task, args=args, queue=queue)
    except (redis.RedisError, OSError) as error:
        log.warning("bell.lost", bell=name, error=str(error))
    except current_app.connection_for_write().connection_errors as error:
        log.warning("bell.lost", bell=name, error=str(error))


def ring_cycle(cluster_id: int) -> None:
    """Ask for a scheduling cycle of this cluster."""
    _ring(f"cycle:{cluster_id}", "muster.cycle.tasks.run_cycle", [cluster_id], "cycle")


def ring_executor(cluster_id: int) -> None:
    """Ask the executor to look for intents that are due."""
    _ring(f"executor:{cluster_id}", "muster.kube.tasks.execute", [cluster_id], "kube")


def answered(name: str) -> None:
    """Called first by the task: rings from now on count anew."""
    try:
        client().delete(rung_key(name))
    except redis.RedisError as error:
        log.warning("bell.stuck", bell=name, error=str(error))
