"""Logs over HTTP: as they grow, merged, and after the pods are gone."""

import asyncio
import json
import threading
import time
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient

from muster.clusters.models import Node
from muster.kube.executor.drain import drain
from muster.kube.streams.lines import TailKeeper
from muster.placements.actions import cancel_job
from muster.workloads.choices import JobState
from muster.workloads.models import Job, StoredLog
from tests.kube.test_executor import reaches
from tests.support.builders import World, make_world, submit
from tests.support.contract import client
from tests.support.kubernetes import eventually
from tests.support.placing import start

TALKS = {"log-lines": 5, "log-interval": 0.5, "run-seconds": 3}
TALKS_LONG = {"log-lines": 12, "log-interval": 0.5, "run-seconds": 8}
"""Long enough that a busy machine still finds it talking."""


def _hang_up() -> None:
    """In the thread that views run in: the connection it has there would keep the database from being dropped."""
    connections.close_all()


def url(job: Job) -> str:
    return f"/api/v1/jobs/{job.pk}/logs/"


def test_logs_outlive_their_pods(world: World, nodes: list[Node]) -> None:
    placement = start(world, nodes, workers=2, gpus=1, behaviour=TALKS)
    job = reaches(placement, JobState.SUCCEEDED)
    eventually(lambda: drain(job.cluster_id) or StoredLog.objects.count() == 2)
    caller = client(world.member)
    one = caller.get(url(job), {"worker": "worker-1", "tail": "2"})
    assert one.content == b"line 4/5\nline 5/5\n"
    lines = [json.loads(line) for line in caller.get(url(job)).content.splitlines()]
    assert [(line["worker"], line["rank"]) for line in lines[::5]] == [("worker-0", 0), ("worker-1", 1)]
    assert lines[-1]["line"] == "line 5/5"


def test_only_its_tenant_reads(world: World, nodes: list[Node]) -> None:
    stranger = make_world("other").member
    job = start(world, nodes, gpus=1).attempt.job
    assert client(stranger).get(url(job)).status_code == 404
    assert client(world.viewer).get(url(job)).status_code == 200
    assert client(world.member).get(url(job), {"worker": "worker-7"}).status_code == 404
    assert client(world.member).get(url(job), {"tail": "many"}).status_code == 400


async def test_following_brings_lines_as_they_come(world: World, nodes: list[Node]) -> None:
    placement = await sync_to_async(start)(world, nodes, workers=2, gpus=1, behaviour=TALKS_LONG)
    job = await sync_to_async(reaches)(placement, JobState.RUNNING)
    caller = AsyncClient()
    await sync_to_async(caller.force_login)(world.member)
    response = await caller.get(url(job), {"follow": "1"}, headers={"accept": "application/x-ndjson"})
    assert response.status_code == 200
    came: dict[float, list[str]] = {}
    async for chunk in response:
        came.setdefault(round(time.monotonic(), 1), []).extend(
            json.loads(line)["worker"] for line in chunk.splitlines()
        )
    workers = [worker for batch in came.values() for worker in batch]
    assert sorted(workers) == ["worker-0"] * 12 + ["worker-1"] * 12
    assert len(came) > 2, "all at once is not followed"
    await sync_to_async(_hang_up)()


@pytest.mark.parametrize("worker", ["", "worker-0"], ids=["all", "one"])
async def test_following_waits_for_pods_that_are_still_to_be_made(world: World, nodes: list[Node], worker: str) -> None:
    placement = await sync_to_async(start)(world, nodes, workers=2, gpus=1, behaviour=TALKS)
    caller = AsyncClient()
    await sync_to_async(caller.force_login)(world.member)
    response = await caller.get(url(placement.attempt.job), {"follow": "1", **({"worker": worker} if worker else {})})
    reading = asyncio.create_task(_read(response))
    await asyncio.sleep(1.2)
    assert not reading.done()
    await sync_to_async(reaches)(placement, JobState.RUNNING)
    assert (await asyncio.wait_for(reading, 20)).count(b"line ") == (5 if worker else 10)
    await sync_to_async(_hang_up)()


async def test_following_a_job_that_never_starts_ends_with_it(world: World) -> None:
    job = await sync_to_async(submit)(world.member)
    caller = AsyncClient()
    await sync_to_async(caller.force_login)(world.member)
    response = await caller.get(url(job), {"follow": "1"})
    reading = asyncio.create_task(_read(response))
    await asyncio.sleep(0.7)
    assert not reading.done()
    await sync_to_async(cancel_job)(job, world.member)
    assert await asyncio.wait_for(reading, 10) == b""
    await sync_to_async(_hang_up)()


async def _read(response: Any) -> bytes:
    return b"".join([chunk async for chunk in response])


async def test_who_leaves_stops_the_readers(world: World, nodes: list[Node]) -> None:
    placement = await sync_to_async(start)(world, nodes, gpus=1, behaviour={"log-lines": 1})
    job = await sync_to_async(reaches)(placement, JobState.RUNNING)
    caller = AsyncClient()
    await sync_to_async(caller.force_login)(world.member)
    response = await caller.get(url(job), {"follow": "1", "worker": "worker-0"})
    stream = response.streaming_content
    assert await anext(stream) == b"line 1/1\n"
    await sync_to_async(response.close)()
    for _ in range(100):
        if not any(thread.name.startswith("log-") for thread in threading.enumerate()):
            break
        await asyncio.sleep(0.05)
    else:
        pytest.fail("a reader still waits for a line")
    await sync_to_async(_hang_up)()


def test_the_end_of_a_stopped_log_is_kept(world: World, nodes: list[Node]) -> None:
    behaviour = {"log-lines": 1, "checkpoint-seconds": 0.2}
    placement = start(world, nodes, gpus=1, behaviour=behaviour)
    job = reaches(placement, JobState.RUNNING)
    cancel_job(job, world.member)
    reaches(placement, JobState.CANCELLED)
    eventually(StoredLog.objects.exists)
    text = client(world.member).get(url(job), {"worker": "worker-0"}).content
    assert text.startswith(b"line 1/1\n")
    assert text.endswith(b"checkpoint saved\n")


def test_a_tail_begins_with_a_whole_line() -> None:
    keeper = TailKeeper(most=10)
    keeper.take([b"first\n", b"second\nthi", b"rd\nfourth\n"])
    tail = keeper.tail()
    assert (tail.content, tail.is_cut) == (b"fourth\n", True)
    keeper = TailKeeper(most=100)
    keeper.take([b"all\n", b"of it"])
    assert (keeper.tail().content, keeper.tail().is_cut) == (b"all\nof it", False)
