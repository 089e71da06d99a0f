"""What the emulator can take: it must not be what the loop's figures measure."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import orjson

from muster.emulator import EmulatorServer

PODS = "/api/v1/namespaces/default/pods"
COUNT = int(os.environ.get("MUSTER_BENCH_EMULATOR_PODS", "1024"))
CONNECTIONS = 32
SOURCE = f"{COUNT} pods on 1,000 nodes over {CONNECTIONS} connections, client and server in one process"
Row = dict[str, Any]


def rows() -> list[Row]:
    return asyncio.run(measure())


async def measure() -> list[Row]:
    began = time.perf_counter()
    async with EmulatorServer(nodes=1000) as server:
        started = time.perf_counter() - began
        connector = aiohttp.TCPConnector(limit=CONNECTIONS)
        async with aiohttp.ClientSession(server.url, connector=connector) as session:
            creates = await rate(lambda at: create(session, at))
            binds = await rate(lambda at: bind(session, at))
            gets = await rate(lambda at: read(session, at))
            listed = await list_seconds(session)
    return [
        row("emulator.requests", 3 / (1 / creates + 1 / binds + 1 / gets), "requests/s", "at least 300"),
        row("emulator.creates", creates, "requests/s", "513 on a real API server"),
        row("emulator.binds", binds, "requests/s", "712 on a real API server"),
        row("emulator.list", listed * 1000, f"ms per list of {COUNT} pods", None, better="lower"),
        row("emulator.start", started, "s with 1,000 nodes", None, better="lower"),
    ]


def row(name: str, value: float, unit: str, reference: str | None, better: str = "higher") -> Row:
    return {"name": name, "value": value, "unit": unit, "better": better, "reference": reference, "source": SOURCE}


async def rate(request: Callable[[int], Awaitable[None]]) -> float:
    """Requests per second, CONNECTIONS at a time."""
    waiting = iter(range(COUNT))

    async def worker() -> None:
        for at in waiting:
            await request(at)

    began = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(CONNECTIONS)))
    return COUNT / (time.perf_counter() - began)


async def create(session: aiohttp.ClientSession, at: int) -> None:
    container = {"name": "w", "image": "x", "resources": {"limits": {"cpu": "1", "nvidia.com/gpu": "1"}}}
    body = {"metadata": {"name": f"p-{at}"}, "spec": {"schedulerName": "muster", "containers": [container]}}
    await send(session, "POST", PODS, body)


async def bind(session: aiohttp.ClientSession, at: int) -> None:
    body = {"metadata": {"name": f"p-{at}"}, "target": {"kind": "Node", "name": f"node-{at % 1000:05d}"}}
    await send(session, "POST", f"{PODS}/p-{at}/binding", body)


async def read(session: aiohttp.ClientSession, at: int) -> None:
    await send(session, "GET", f"{PODS}/p-{at}")


async def send(session: aiohttp.ClientSession, method: str, path: str, body: Row | None = None) -> None:
    data = orjson.dumps(body) if body is not None else None
    async with session.request(method, path, data=data, headers={"Content-Type": "application/json"}) as answer:
        text = await answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text.decode()}")


async def list_seconds(session: aiohttp.ClientSession, times: int = 5) -> float:
    began = time.perf_counter()
    for _ in range(times):
        await send(session, "GET", PODS)
    return (time.perf_counter() - began) / times
