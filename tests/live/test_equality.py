"""The proof of the live pages: old state plus events equals state fetched anew, whatever is killed in between."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

import orjson
import pytest
import redis
import redis.asyncio
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections, transaction

from muster.accounts.models import Membership
from muster.common.models import Event
from muster.realtime import streams, topics
from muster.realtime.hub import MAX_BEHIND, Hub
from muster.realtime.publisher import Publisher

from .browser import Browser
from .world import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def line():
    client = redis.Redis.from_url(settings.REDIS_URL)
    client.flushdb()
    yield client
    client.flushdb()
    client.close()


@pytest.fixture
async def hub(line: redis.Redis) -> AsyncIterator[Hub]:
    client = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_timeout=30)
    hub = Hub(client)
    hub.start()
    yield hub
    await hub.stop()
    await client.aclose()
    await sync_to_async(connections.close_all)()


def publish(client: redis.Redis) -> None:
    Publisher(client).publish_once()


async def quiet(hub: Hub, browsers: list[Browser]) -> None:
    """Wait until each browser stands where its streams end."""
    for _ in range(1000):
        for browser in browsers:
            await browser.take()
        last = {k.decode(): int(v) for k, v in (await hub.redis.hgetall(streams.LAST)).items()}
        if all(browser.seq.get(topic) == last.get(topic, 0) for browser in browsers for topic in browser.objects):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("the browsers never caught up")


def fetched(topic: str) -> dict:
    """The topic's state read anew, as it looks on the wire."""
    return {thing["id"]: thing for thing in orjson.loads(orjson.dumps(topics.read_everything(topic)))}


async def assert_equal(browser: Browser, names: list[str]) -> None:
    for topic in names:
        assert browser.view(topic) == await sync_to_async(fetched)(topic), topic


@pytest.mark.parametrize("seed", range(6))
async def test_old_state_plus_events_is_state_fetched_anew(hub: Hub, line: redis.Redis, seed: int) -> None:
    """Changes at random; in between publisher and web process die, the line goes down, the browser stalls."""
    rng = random.Random(seed)
    world = await sync_to_async(World)(rng)
    await sync_to_async(publish)(line)
    browser = Browser(hub, world.member)
    await browser.watch(*world.topics())
    for _ in range(40):
        await sync_to_async(world.change)()
        if rng.random() < 0.4:
            await sync_to_async(publish)(line)
        if rng.random() < 0.1:
            await sync_to_async(_publisher_dies_before_commit)(line)
        if rng.random() < 0.15:
            browser.disconnect()
            if rng.random() < 0.4:
                await _web_process_dies(browser)
            browser.connect()
            await browser.watch(*world.topics())
        if rng.random() < 0.3:
            await browser.take()
        await asyncio.sleep(rng.choice([0, 0, 0.03]))
    await sync_to_async(publish)(line)
    await quiet(browser.hub, [browser])
    await assert_equal(browser, world.topics())
    assert browser.counts["delta"] > 5
    await browser.hub.stop()


async def _web_process_dies(browser: Browser) -> None:
    """Everything that its hub knew is lost; the process that takes its place starts with an empty one."""
    await browser.hub.stop()
    browser.hub = Hub(browser.hub.redis)
    browser.hub.start()


def _publisher_dies_before_commit(client: redis.Redis) -> None:
    """Streams were appended, then the process was killed: its transaction is rolled back by the database."""
    with transaction.atomic():
        Publisher(client).publish_once()
        transaction.set_rollback(True)


async def test_a_resume_brings_what_was_missed_and_no_snapshot(hub: Hub, line: redis.Redis) -> None:
    world = await sync_to_async(World)(random.Random(1))
    await sync_to_async(publish)(line)
    browser = Browser(hub, world.member)
    await browser.watch(*world.topics())
    await quiet(hub, [browser])
    browser.disconnect()
    for _ in range(3):
        await sync_to_async(world.submit)(0)
        await sync_to_async(publish)(line)
    before = browser.counts["snapshot"]
    browser.connect()
    await browser.watch(*world.topics())
    await quiet(hub, [browser])
    assert browser.counts["snapshot"] == before
    await assert_equal(browser, world.topics())


async def test_a_cursor_older_than_what_is_kept_gets_a_snapshot(hub: Hub, line: redis.Redis) -> None:
    world = await sync_to_async(World)(random.Random(2))
    await sync_to_async(publish)(line)
    browser = Browser(hub, world.member)
    await browser.watch(*world.topics())
    await quiet(hub, [browser])
    browser.disconnect()
    for _ in range(3):
        await sync_to_async(world.submit)(0)
        await sync_to_async(publish)(line)
    for topic in world.topics():
        await hub.redis.xtrim(streams.stream(topic), maxlen=1, approximate=False)
    browser.connect()
    await browser.watch(*world.topics())
    await quiet(hub, [browser])
    await assert_equal(browser, world.topics())


async def test_redis_that_lost_everything_is_survived(hub: Hub, line: redis.Redis) -> None:
    world = await sync_to_async(World)(random.Random(3))
    await sync_to_async(publish)(line)
    browser = Browser(hub, world.member)
    await browser.watch(*world.topics())
    await quiet(hub, [browser])
    line.flushdb()
    await sync_to_async(world.submit)(0)
    await sync_to_async(publish)(line)
    await hub.check_streams()
    await quiet(hub, [browser])
    await assert_equal(browser, world.topics())


async def test_a_slow_socket_gets_a_snapshot_instead_of_a_backlog(hub: Hub, line: redis.Redis) -> None:
    world = await sync_to_async(World)(random.Random(4))
    await sync_to_async(publish)(line)
    slow, quick = Browser(hub, world.member), Browser(hub, world.member)
    for browser in (slow, quick):
        await browser.watch(*world.topics())
        await browser.take()
    for _ in range(MAX_BEHIND):
        await sync_to_async(world.submit)(0)
        await sync_to_async(publish)(line)
        await asyncio.sleep(0.005)
        await quick.take()
        assert slow.socket.behind <= MAX_BEHIND + len(world.topics())
    await quiet(hub, [slow, quick])
    await assert_equal(slow, world.topics())
    assert quick.counts["snapshot"] == len(world.topics())
    assert slow.counts["snapshot"] > quick.counts["snapshot"]


async def test_a_quiet_line_still_delivers(hub: Hub, line: redis.Redis) -> None:
    """A client's default read timeout once equalled the blocking read: an idle receiver died without a word."""
    world = await sync_to_async(World)(random.Random(5))
    await sync_to_async(publish)(line)
    browser = Browser(hub, world.member)
    await browser.watch("overview")
    await quiet(hub, [browser])
    await asyncio.sleep(12)
    await browser.take()
    await sync_to_async(world.submit)(0)
    await sync_to_async(publish)(line)
    await quiet(hub, [browser])
    assert browser.counts["delta"] == 1


async def test_permission_is_asked_on_subscribing_and_again(hub: Hub, line: redis.Redis) -> None:
    world = await sync_to_async(World)(random.Random(6))
    foreign = [f"tenant/{world.tenants[1].pk}/jobs", "job/999999", "nonsense", f"cluster/{world.cluster.pk}/map/x"]
    member, stranger = Browser(hub, world.member), Browser(hub, world.stranger)
    await member.watch(*world.topics(), *foreign)
    await stranger.watch(*world.topics())
    await member.take()
    await stranger.take()
    assert member.denied == set(foreign)
    assert stranger.denied == set(world.topics())
    await sync_to_async(Membership.objects.all().delete)()
    await hub.recheck(member.socket)
    await member.take()
    assert set(world.topics()) <= member.denied
    assert not member.socket.watched


async def test_shared_topics_name_no_job_and_no_user(hub: Hub, line: redis.Redis) -> None:
    world = await sync_to_async(World)(random.Random(7))
    await sync_to_async(world.start)()
    for topic in ("overview", f"cluster/{world.cluster.pk}/map", f"queues/{world.cluster.pk}"):
        text = orjson.dumps(await sync_to_async(topics.read_everything)(topic)).decode()
        assert '"ada"' not in text
        assert f'"{world.job.name}"' not in text


async def test_events_get_numbers_once_and_in_order(line: redis.Redis) -> None:
    world = await sync_to_async(World)(random.Random(8))
    await sync_to_async(world.change)()
    await sync_to_async(_publisher_dies_before_commit)(line)
    await sync_to_async(publish)(line)
    seqs = await sync_to_async(lambda: list(Event.objects.order_by("id").values_list("seq", flat=True)))()
    assert None not in seqs
    assert seqs == sorted(set(seqs))
