"""The preview queue: questions from people who wait for the answer, and the samples that are taken between them."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict, replace
from typing import Any

import orjson
import structlog
from celery import shared_task

from muster.clusters.models import Cluster
from muster.common import bells, clock
from muster.fragmentation.actions import store_sample
from muster.fragmentation.mixes import with_mix
from muster.fragmentation.queries import latest_sample
from muster.placements.load import Loaded, load
from muster.preview.answering import would_run
from muster.preview.measuring import measure
from muster.preview.question import Question

log = structlog.get_logger(__name__)

ANSWER_KEPT_SECONDS = 10
SAMPLED_EVERY = dt.timedelta(seconds=30)
EARLY = dt.timedelta(seconds=5)
"""A beat may come a little before its time."""


@shared_task
def answer(inbox: str, question: dict[str, Any]) -> None:
    """Answer one question into the list `inbox`. Nobody may be waiting any more: it is then forgotten after 10 s."""
    asked = Question(**question)
    _put(inbox, asdict(would_run(_load(asked.cluster_id), asked, clock.now().timestamp())))


@shared_task
def measure_now(inbox: str, cluster_id: int, cpu: int | None, memory: int | None) -> None:
    """What fits in a cluster now, into the list `inbox`."""
    _put(inbox, measure(_load(cluster_id), cpu=cpu, memory=memory))


@shared_task
def sample() -> None:
    """Take a sample of every enabled cluster; what goes wrong with one stays with it."""
    for cluster_id in Cluster.objects.filter(enabled=True).values_list("pk", flat=True):
        try:
            sample_cluster(cluster_id)
        except Exception:
            log.exception("sample.failed", cluster=cluster_id)


def sample_cluster(cluster_id: int) -> bool:
    """Whether a sample was taken: not of a cluster without nodes, and not sooner than 30 s after the last."""
    now, last = clock.now(), latest_sample(cluster_id)
    if last is not None and now - last.at < SAMPLED_EVERY - EARLY:
        return False
    loaded = _load(cluster_id)
    if not len(loaded.snapshot.nodes):
        return False
    store_sample(cluster_id, now, measure(loaded))
    return True


def _load(cluster_id: int) -> Loaded:
    """The world as it is, decided upon as the cycle will."""
    loaded = load(cluster_id)
    return replace(loaded, policy=with_mix(loaded.policy, cluster_id))


def _put(inbox: str, found: dict[str, Any]) -> None:
    with bells.client().pipeline() as pipe:
        pipe.rpush(inbox, orjson.dumps(found))
        pipe.expire(inbox, ANSWER_KEPT_SECONDS)
        pipe.execute()
