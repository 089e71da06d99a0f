"""What would become of a job, asked before it is submitted."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from celery import current_app
from kombu.simple import SimpleQueue

from muster.accounts.standing import standing_of
from muster.clusters.models import Gpu, Node
from muster.common import bells
from muster.placements.load import forget, load
from muster.preview import alive, asking
from muster.preview.answering import would_run
from muster.preview.question import Answer, Question
from muster.preview.tasks import answer
from muster.workloads import judging
from muster.workloads.drafts import Draft, draft_job
from muster.workloads.models import Attempt, Job
from tests.support.builders import World, job_file, make_quota, make_world, submit
from tests.support.running import run

pytestmark = pytest.mark.django_db
NOW = 1_800_000_000.0


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    forget()
    yield
    forget()
    bells.client().delete(alive.KEY)


@pytest.fixture
def world() -> World:
    return make_world(nodes=2)


def draft(world: World, **keys: Any) -> Draft:
    return draft_job(standing_of(world.member), job_file(**keys))


def answered(world: World, **keys: Any) -> Answer:
    return would_run(load(world.cluster.pk), Question.of(draft(world, **keys)), NOW)


def test_it_would_start_now_and_where(world: World) -> None:
    first, second = Node.objects.order_by("pk")
    found = answered(world, workers=2, gpus=8)
    assert found.can_run
    assert found.nodes == {first.name: ["worker-0"], second.name: ["worker-1"]}


def test_it_would_wait_and_why(world: World) -> None:
    run(submit(world.member, workers=2, gpus=8), list(Node.objects.order_by("pk")))
    found = answered(world, gpus=8)
    assert (found.can_run, found.starts_now, found.reason) == (True, False, "InsufficientGPUs")
    assert "Needs 8 GPUs" in found.message
    assert found.funnel


def test_those_who_wait_already_come_first(world: World) -> None:
    submit(world.member, workers=2, gpus=8)
    assert answered(world, gpus=1).reason == "InsufficientGPUs"
    assert answered(world, gpus=1, priority=90).starts_now


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"gpus": "A100:1"}, "NoMatchingNodes"),
        ({"workers": 3, "gpus": 8}, "ExceedsCluster"),
        ({"workers": 2, "gpus": 8, "topology": {"required": "host"}}, "TopologyUnsatisfied"),
    ],
)
def test_it_can_never_run(world: World, keys: dict[str, Any], reason: str) -> None:
    found = answered(world, **keys)
    assert (found.can_run, found.reason) == (False, reason)
    assert found.message


def test_outages_and_limits_make_nothing_impossible(world: World) -> None:
    Node.objects.update(ready=False, cordoned=True)
    Gpu.objects.update(health="unhealthy")
    make_quota(world.queue, world.cluster, limit=1)
    assert answered(world, workers=2, gpus=8).can_run


def test_nothing_is_committed(world: World) -> None:
    answered(world, gpus=1)
    assert not Job.objects.exists()
    assert not Attempt.objects.exists()


def test_without_anybody_to_answer_nobody_waits(world: World) -> None:
    start = time.monotonic()
    assert judging.ask(draft(world)) is None
    assert time.monotonic() - start < 0.5


def test_a_process_that_does_not_answer_is_waited_for_two_seconds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive.say_so()
    monkeypatch.setattr(asking, "DEADLINE_SECONDS", 0.2)
    start = time.monotonic()
    assert judging.ask(draft(world)) is None
    assert 0.2 <= time.monotonic() - start < 1.5


def test_an_answer_comes_back_through_redis(world: World) -> None:
    load(world.cluster.pk)
    found: list[judging.Finding | None] = []
    asked = draft(world, workers=3, gpus=8)
    alive.say_so()
    # Not through `judging`: another thread does not see the rows of this test's transaction.
    waiting = threading.Thread(target=lambda: found.append(asking.judge(asked)))
    with current_app.connection_for_read() as connection, connection.SimpleQueue("preview") as queue:
        queue.clear()
        waiting.start()
        _answer_one(queue)
    waiting.join(5)
    [finding] = found
    assert finding is not None
    assert (finding.can_run, finding.reason) == (False, "ExceedsCluster")


def _answer_one(queue: SimpleQueue) -> None:
    """Take one message from the broker's queue and answer it, as a worker would."""
    message = queue.get(timeout=5)
    message.ack()
    arguments, _options, _embedded = message.payload
    answer(*arguments)
