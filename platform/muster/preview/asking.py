"""Asking: a question through the queue, its answer through Redis, and no longer than two seconds for both."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import Any

import orjson
import redis
import structlog
from celery import current_app
from django.conf import settings

from muster.preview.alive import is_anybody_there
from muster.preview.question import Answer, Question
from muster.workloads.drafts import Draft
from muster.workloads.judging import Finding

log = structlog.get_logger(__name__)

DEADLINE_SECONDS = 2.0
ANSWER = "muster.preview.tasks.answer"
MEASURE = "muster.preview.tasks.measure_now"


def judge(draft: Draft) -> Finding | None:
    """Whether a draft can ever run; None where nobody answers in time."""
    answer = ask(Question.of(draft))
    return None if answer is None else Finding(answer.can_run, answer.reason, answer.message, answer.nodes)


def ask(question: Question) -> Answer | None:
    """What would become of this job; None where nobody answers within two seconds."""
    found = _request(ANSWER, asdict(question))
    return None if found is None else Answer(**found)


def fits(cluster_id: int, cpu: int | None, memory: int | None) -> dict[str, Any] | None:
    """What fits now, with this much CPU and memory for each GPU; None where nobody answers within two seconds."""
    return _request(MEASURE, cluster_id, cpu, memory)


def _request(task: str, *arguments: Any) -> dict[str, Any] | None:
    """Send the task and wait for what it puts into its inbox."""
    try:
        return _send_and_wait(task, *arguments)
    except (redis.RedisError, OSError) as error:
        log.warning("preview.unreachable", error=str(error))
    except current_app.connection_for_write().connection_errors as error:
        log.warning("preview.unreachable", error=str(error))
    return None


def _send_and_wait(task: str, *arguments: Any) -> dict[str, Any] | None:
    if not is_anybody_there():
        return None
    inbox = f"preview:{uuid.uuid4()}"
    current_app.send_task(task, args=[inbox, *arguments], queue="preview", expires=DEADLINE_SECONDS)
    # The client's own time-out must be later than the server's, which answers with nothing.
    waiting = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=DEADLINE_SECONDS + 1)
    try:
        found = waiting.blpop([inbox], timeout=DEADLINE_SECONDS)
    finally:
        waiting.close()
    return None if found is None else orjson.loads(found[1])  # type: ignore[index]
