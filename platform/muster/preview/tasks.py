"""The preview queue: questions from people who wait for the answer."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import orjson
from celery import shared_task

from muster.common import bells, clock
from muster.placements.load import load
from muster.preview.answering import would_run
from muster.preview.question import Question

ANSWER_KEPT_SECONDS = 10


@shared_task
def answer(inbox: str, question: dict[str, Any]) -> None:
    """Answer one question into the list `inbox`. Nobody may be waiting any more: it is then forgotten after 10 s."""
    asked = Question(**question)
    found = would_run(load(asked.cluster_id), asked, clock.now().timestamp())
    with bells.client().pipeline() as pipe:
        pipe.rpush(inbox, orjson.dumps(asdict(found)))
        pipe.expire(inbox, ANSWER_KEPT_SECONDS)
        pipe.execute()
