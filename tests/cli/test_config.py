"""The platform's frame: health, metrics, the content security policy, and where messages go."""

from collections.abc import Iterator

import pytest
import redis
from asgiref.testing import ApplicationCommunicator
from celery import Celery
from django.conf import settings
from django.test import Client
from pytest_django.fixtures import Settings

from muster.cli.up.processes import POOLS
from muster.config.asgi import application
from muster.config.celery import QUEUES, app, queue_of


@pytest.mark.django_db
def test_healthy_platform_answers_200(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"database": "ok", "migrations": "ok", "redis": "ok"})


@pytest.mark.django_db
def test_missing_broker_is_named(client: Client, settings: Settings) -> None:
    settings.MUSTER = settings.MUSTER.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"})
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["database"] == "ok"
    assert "127.0.0.1:1" in answer.json()["redis"]


def test_metrics_are_in_prometheus_format(client: Client) -> None:
    answer = client.get("/metrics")
    assert answer["Content-Type"].startswith("text/plain; version=")
    assert b"# TYPE python_info gauge" in answer.content


@pytest.mark.django_db
def test_only_the_admin_site_may_evaluate_strings(client: Client) -> None:
    strict = client.get("/healthz")["Content-Security-Policy"]
    admin = client.get("/admin/login/")["Content-Security-Policy"]
    assert "default-src 'self'" in strict
    assert "unsafe" not in strict
    assert "'unsafe-eval'" in admin
    assert "frame-ancestors 'none'" in admin


@pytest.fixture
def broker() -> Iterator[redis.Redis]:
    """The broker's database, emptied of what this test sent."""
    client = redis.Redis.from_url(settings.MUSTER.redis)
    client.delete(*QUEUES)
    yield client
    client.delete(*QUEUES)
    client.close()


@pytest.mark.parametrize(
    ("task", "queue"),
    [
        ("muster.cycle.tasks.tick", "cycle"),
        ("muster.preview.tasks.answer", "preview"),
        ("muster.kube.tasks.sweep", "kube"),
        ("muster.common.tasks.prune_events", "default"),
        ("somebody.elses.task", "default"),
    ],
)
def test_a_message_reaches_its_queue_and_no_other(broker: redis.Redis, task: str, queue: str) -> None:
    """Bound to one key, as kombu's queues are by default, every queue would get every message."""
    app.send_task(task)
    assert {name: broker.llen(name) for name in QUEUES} == {name: int(name == queue) for name in QUEUES}


def test_every_queue_has_its_worker() -> None:
    assert tuple(POOLS) == QUEUES
    assert isinstance(app, Celery)
    assert queue_of("muster.kube.tasks") == "kube"


ORIGIN = [(b"host", b"localhost"), (b"origin", b"http://localhost")]


async def answer_of(path: str) -> dict[str, object]:
    """What the websocket side first says to somebody who opens `path` and goes away."""
    scope = {"type": "websocket", "path": path, "headers": ORIGIN, "query_string": b"", "subprotocols": []}
    communicator = ApplicationCommunicator(application, scope)
    await communicator.send_input({"type": "websocket.connect"})
    answer: dict[str, object] = await communicator.receive_output(timeout=5)
    return answer


# Channels looks at the connection of its thread, which an earlier test may have opened.
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/ws/live", "/muster/ws/live"])
async def test_websockets_are_found_with_the_prefix_and_without(settings: Settings, path: str) -> None:
    """Some proxies take MUSTER_PATH_PREFIX off, some do not. Closed since nobody is signed in, but by our consumer."""
    settings.MUSTER = settings.MUSTER.model_copy(update={"path_prefix": "/muster"})
    assert (await answer_of(path))["type"] == "websocket.close"


@pytest.mark.django_db(transaction=True)
async def test_other_websockets_are_not_found() -> None:
    with pytest.raises(ValueError, match="No route found"):
        await answer_of("/other")
