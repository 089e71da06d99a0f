"""Live pages under load: two web processes, 1,000 sockets, 200 changes a second.

Every socket watches its tenant's jobs and the overview. A change carries its time of commit; latency is from there to the socket.
A batch counts as delivered when the chain of `prev` numbers at the socket has no gap.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from websockets.asyncio.client import ClientConnection, connect

from tests.support.stage import Stage, free_port

SOCKETS = int(os.environ.get("MUSTER_BENCH_SOCKETS", "1000"))
CHANGES_A_SECOND = 200
SECONDS = float(os.environ.get("MUSTER_BENCH_SECONDS", "20"))
TENANTS = 10
JOBS_A_TENANT = 20
REFERENCE = "0.79 s at 1,000 sockets, in a small trial of the same design"


@dataclass
class Line:
    """One socket's book: where each topic stands, what was late, what was missed."""

    url: str
    cookie: str
    topics: list[str]
    seq: dict[str, int] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)
    gaps: int = 0
    batches: int = 0

    async def run(self, ready: asyncio.Event, keep: float) -> None:
        """Watch the topics for `keep` seconds; `ready` is set when each has answered."""
        async with asyncio.timeout(keep + 120):
            async with connect(
                self.url, additional_headers={"Cookie": self.cookie, "Origin": _origin(self.url)}
            ) as line:
                for topic in self.topics:
                    await line.send(orjson.dumps({"sub": topic, "since": self.seq.get(topic)}).decode())
                await self._listen(line, ready, keep)

    async def _listen(self, line: ClientConnection, ready: asyncio.Event, keep: float) -> None:
        answered: set[str] = set()
        end = time.monotonic() + keep
        while (left := end - time.monotonic()) > 0:
            try:
                message = orjson.loads(await asyncio.wait_for(line.recv(), left))
            except TimeoutError:
                return
            if "topic" in message:
                self._take(message)
                answered.add(message["topic"])
                if len(answered) == len(self.topics):
                    ready.set()

    def _take(self, message: dict[str, Any]) -> None:
        topic = message["topic"]
        if "put" in message:
            self.batches += 1
            self.gaps += message["prev"] != self.seq[topic]
            now = time.time()
            self.latencies += [now - float(row["message"]) for row in message["put"] if row.get("message")]
        self.seq[topic] = message["seq"]


def _origin(url: str) -> str:
    return url.replace("ws://", "http://").partition("/ws/")[0]


def rows() -> list[dict[str, Any]]:
    """live.p95, live.delivered, live.memory, live.reconnect."""
    with Stage() as stage:
        ports = [free_port(), free_port()]
        for port in ports:
            stage.start("web", port=port)
        stage.start("publisher")
        with stage.django():
            jobs, cookies = _world()
            for port in ports:
                stage.wait_for_web(port)
            lines = _lines(ports, cookies)
            began = _resident(stage, ports)
            asyncio.run(_load(lines, jobs))
            grown = _resident(stage, ports)
            back = asyncio.run(_storm(stage, lines, ports))
    return _report(lines, began=began, grown=grown, back=back)


def _report(lines: list[Line], *, began: float, grown: float, back: float) -> list[dict[str, Any]]:
    latencies = sorted(late for line in lines for late in line.latencies)
    p95 = statistics.quantiles(latencies, n=20)[-1]
    batches, gaps = sum(line.batches for line in lines), sum(line.gaps for line in lines)
    source = f"{SOCKETS} sockets, 2 web processes, {CHANGES_A_SECOND} changes/s for {SECONDS:g} s"

    def row(name: str, value: float, unit: str, better: str, reference: str) -> dict[str, Any]:
        return {
            "name": name, "value": round(value, 3), "unit": unit, "better": better, "reference": reference, "source": source,
        }  # fmt: skip

    return [
        row("live.p95", p95, "s", "lower", REFERENCE),
        row("live.delivered", 100 * (1 - gaps / batches), "%", "higher", "100 %"),
        row("live.memory", grown, "MiB a web process", "lower", f"{began:.0f} MiB before"),
        row("live.reconnect", back, "s", "lower", f"all {SOCKETS} sockets up to date after both processes were killed"),
    ]


def _world() -> tuple[list[int], list[tuple[int, str]]]:
    """Tenants with jobs; returns the jobs' keys and, per tenant, its key and a member's session cookie."""
    from django.conf import settings

    from muster.common import clock
    from muster.quotas.models import Queue
    from muster.workloads.models import Job, JobShape
    from tests.support.builders import make_cluster, make_member, make_tenant
    from tests.support.signed_in import session_of

    cluster = make_cluster("bench")
    shape = JobShape.objects.create(digest="bench", body={})
    jobs, cookies = [], []
    for number in range(TENANTS):
        tenant = make_tenant(f"tenant-{number}")
        queue = Queue.objects.get(tenant=tenant, name="train")
        member = make_member(tenant)
        made = Job.objects.bulk_create(
            Job(tenant=tenant, queue=queue, cluster=cluster, owner=member, name=f"job-{i}", spec={}, shape=shape,
                submitted_at=clock.now())
            for i in range(JOBS_A_TENANT)
        )  # fmt: skip
        jobs += [job.pk for job in made]
        cookies.append((tenant.pk, f"{settings.SESSION_COOKIE_NAME}={session_of(member)}"))
    return jobs, cookies


def _lines(ports: list[int], cookies: list[tuple[int, str]]) -> list[Line]:
    lines = []
    for number in range(SOCKETS):
        tenant, cookie = cookies[number % TENANTS]
        url = f"ws://127.0.0.1:{ports[number % len(ports)]}/ws/live"
        lines.append(Line(url, cookie, [f"tenant/{tenant}/jobs", "overview"]))
    return lines


async def _load(lines: list[Line], jobs: list[int]) -> None:
    readies = [asyncio.Event() for _ in lines]
    open_for = SECONDS + 5 + len(lines) / 50
    sockets = [asyncio.create_task(line.run(ready, open_for)) for line, ready in zip(lines, readies, strict=True)]
    await asyncio.gather(*(ready.wait() for ready in readies))
    await asyncio.to_thread(_change, jobs)
    await asyncio.gather(*sockets)


def _change(jobs: list[int]) -> None:
    """CHANGES_A_SECOND commits a second, each to one job, with the time of the commit in it."""
    from django.db import connections, transaction

    from muster.workloads.models import Job
    from muster.workloads.states import publish_job

    began, number = time.monotonic(), 0
    while time.monotonic() - began < SECONDS:
        with transaction.atomic():
            job = Job.objects.get(pk=jobs[number % len(jobs)])
            publish_job(job)
            job.state_message = repr(time.time())
            job.save(update_fields=["state_message"])
        number += 1
        time.sleep(max(0.0, began + number / CHANGES_A_SECOND - time.monotonic()))
    connections.close_all()


async def _storm(stage: Stage, lines: list[Line], ports: list[int]) -> float:
    """Kill both web processes, start them, and let every socket come back from where it stood; seconds until all have."""
    for port in ports:
        stage.kill(f"web@{port}")
    for port in ports:
        stage.start("web", port=port)
    for port in ports:
        await asyncio.to_thread(stage.wait_for_web, port)
    began = time.monotonic()
    readies = [asyncio.Event() for _ in lines]
    sockets = [asyncio.create_task(line.run(ready, 60)) for line, ready in zip(lines, readies, strict=True)]
    await asyncio.gather(*(ready.wait() for ready in readies))
    taken = time.monotonic() - began
    for socket in sockets:
        socket.cancel()
    await asyncio.gather(*sockets, return_exceptions=True)
    return taken


def _resident(stage: Stage, ports: list[int]) -> float:
    """MiB resident in the larger web process."""
    sizes = []
    for port in ports:
        with Path(f"/proc/{stage.running[f'web@{port}'].pid}/status").open() as status:
            sizes.append(next(int(line.split()[1]) for line in status if line.startswith("VmRSS")))
    return max(sizes) / 1024
