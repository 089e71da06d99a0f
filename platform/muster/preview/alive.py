"""Is anybody there to answer? A process that works the preview queue says so; without one nobody waits for an answer."""

from __future__ import annotations

from typing import Any

import redis
import structlog
from celery.signals import heartbeat_sent, worker_ready
from django.conf import settings

from muster.common import bells

log = structlog.get_logger(__name__)

KEY = "preview:alive"
SECONDS = 20


def connect() -> None:
    """Let this process, if it works the preview queue, give its signs of life with Celery's own."""
    if settings.MUSTER.process == "preview":
        worker_ready.connect(say_so, dispatch_uid="preview-ready")
        heartbeat_sent.connect(say_so, dispatch_uid="preview-alive")


def say_so(**_signal: Any) -> None:
    """Somebody answers, for the next 20 s at least."""
    try:
        bells.client().set(KEY, 1, ex=SECONDS)
    except (redis.RedisError, OSError) as error:
        log.warning("preview.silent", error=str(error))


def is_anybody_there() -> bool:
    """Whether a question is worth asking."""
    return bool(bells.client().exists(KEY))
