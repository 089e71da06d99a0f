"""Asking: a question through the queue, its answer through Redis, and no longer than two seconds for both."""

from __future__ import annotations

import uuid
from dataclasses import asdict

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
TASK = "muster.preview.tasks.answer"


def judge(draft: Draft) -> Finding | None:
    """Whether a draft can ever run; None where nobody answers in time."""
    answer = ask(Question.of(draft))
    return None if answer is None else Finding(answer.can_run, answer.reason, answer.message, answer.nodes)


def ask(question: Question) -> Answer | None:
    """What would become of this job; None where nobody answers within two seconds."""
    try:
        return _ask(question)
    except (redis.RedisError, OSError) as error:
        log.warning("preview.unreachable", error=str(error))
    except current_app.connection_for_write().connection_errors as error:
        log.warning("preview.unreachable", error=str(error))
    return None


def _ask(question: Question) -> Answer | None:
    if not is_anybody_there():
        return None
    inbox = f"preview:{uuid.uuid4()}"
    arguments = [inbox, asdict(question)]
    current_app.send_task(TASK, args=arguments, queue="preview", expires=DEADLINE_SECONDS)
    # The client's own time-out must be later than the server's, which answers with nothing.
    waiting = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=DEADLINE_SECONDS + 1)
    try:
        found = waiting.blpop([inbox], timeout=DEADLINE_SECONDS)
    finally:
        waiting.close()
    return None if found is None else Answer(**orjson.loads(found[1]))  # type: ignore[index]
