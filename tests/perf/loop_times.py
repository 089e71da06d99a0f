"""The loop from submission to running pods, with every process real, on 1,000 emulated nodes of eight GPUs."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.support.stage import Stage

JOBS = int(os.environ.get("MUSTER_BENCH_JOBS", "200"))
WORKERS = int(os.environ.get("MUSTER_BENCH_WORKERS", "512"))
NODES = 1000
PAUSE_SECONDS = 0.4
SOURCE = f"REST submit to started_at, {NODES} emulated nodes, {os.cpu_count()} cores for all processes and the emulator"

Row = dict[str, Any]


def rows() -> Iterator[Row]:
    """loop.submit_p50, loop.submit_p95, loop.gang512, loop.informer."""
    with Stage() as stage:
        stage.start_emulator("--cluster", "empty", "--nodes", str(NODES))
        with stage.django():
            caller = _set_up(stage)
            yield from _one_gpu_jobs(stage, caller)
            yield from _gang(stage, caller)
            yield from _informer(stage, caller)


def _set_up(stage: Stage) -> httpx.Client:
    """Rows and processes; returns when every node is known and a first job has warmed everything up."""
    from muster.accounts.actions import create_token
    from muster.clusters.models import Node
    from tests.support.builders import make_cluster, make_priorities, make_quota, make_world

    make_priorities()
    cluster = make_cluster("demo", kubeconfig_path=str(stage.kubeconfig))
    world = make_world("vision")
    make_quota(world.queue, cluster, guaranteed=8 * NODES, limit=8 * NODES)
    _, token = create_token(world.member, "bench")
    stage.start("web", "cycle", "kube", "informer", "beat")
    stage.wait_for_web()
    stage.wait(lambda: Node.objects.filter(ready=True).count() == NODES, "the nodes")
    caller = httpx.Client(base_url=stage.url, headers={"authorization": f"Bearer {token}"}, timeout=30)
    for _ in range(3):
        _wait_until_running(stage, _submit(caller, gpus=1))
    return caller


def _submit(caller: httpx.Client, **keys: Any) -> int:
    document = {"name": "bench", "queue": "train", "image": "demo/bench", "cpus": 1, "memory": "1Gi"} | keys
    answer = caller.post("/api/v1/jobs/", json=document)
    answer.raise_for_status()
    return int(answer.json()["id"])


def _wait_until_running(stage: Stage, job_id: int, seconds: float = 60) -> Any:
    from muster.workloads.models import Job

    stage.wait(lambda: Job.objects.filter(pk=job_id, state="running").exists(), f"job {job_id}", seconds=seconds)
    return Job.objects.get(pk=job_id)


def _one_gpu_jobs(stage: Stage, caller: httpx.Client) -> Iterator[Row]:
    """One after another with a little pause, as people and scripts send them."""
    from muster.workloads.models import Job

    sent: dict[int, float] = {}
    for _ in range(JOBS):
        moment = time.time()
        sent[_submit(caller, gpus=1)] = moment
        time.sleep(PAUSE_SECONDS)
    stage.wait(lambda: Job.objects.filter(pk__in=sent, state="running").count() == JOBS, "the jobs")
    started = dict(Job.objects.filter(pk__in=sent).values_list("pk", "started_at"))
    took = sorted(started[pk].timestamp() - moment for pk, moment in sent.items())
    source = f"{JOBS} one-GPU jobs; {SOURCE}"
    yield _row("loop.submit_p50", statistics.median(took), "s", "0.5 s", source)
    yield _row("loop.submit_p95", took[int(len(took) * 0.95)], "s", None, source)


def _gang(stage: Stage, caller: httpx.Client) -> Iterator[Row]:
    from muster.workloads.models import Attempt

    moment = time.time()
    job = _wait_until_running(stage, _submit(caller, workers=WORKERS, gpus=1), seconds=120)
    bound = Attempt.objects.get(job=job).bound_at.timestamp() - moment
    running = job.started_at.timestamp() - moment
    yield _row(
        "loop.gang512", bound, "s", "5 s", f"{WORKERS} workers bound; all running after {running:.2f} s; {SOURCE}"
    )
    caller.post(f"/api/v1/jobs/{job.pk}/cancel/").raise_for_status()
    stage.wait(lambda: not Attempt.objects.filter(job=job).exclude(state="ended").exists(), "the end", seconds=120)


def _informer(stage: Stage, caller: httpx.Client) -> Iterator[Row]:
    """What a gang's pods tell while nobody listens, written down in one go: create, bind, start, run."""
    from muster.clusters.models import Cluster
    from muster.kube.gateway import Gateway
    from muster.kube.informer.informer import Informer
    from muster.placements.models import Placement

    stage.kill("informer")
    cluster = Cluster.objects.get()
    informer = Informer(cluster, Gateway.of(cluster, connections=8))
    informer.start()
    stage.wait(lambda: informer.waiting >= NODES, "the list")
    listed = informer.waiting
    job_id = _submit(caller, workers=WORKERS, gpus=1)
    stage.wait(lambda: Placement.objects.filter(attempt__job=job_id, state="done").exists(), "the gang", seconds=120)
    time.sleep(2)
    count, began, stopping = informer.waiting, time.perf_counter(), threading.Event()
    writer = threading.Thread(target=informer.run, args=[stopping])
    writer.start()
    _wait_until_running(stage, job_id, seconds=120)
    stage.wait(lambda: informer.waiting == 0, "the rows")
    took = time.perf_counter() - began
    stopping.set()
    writer.join()
    source = f"{count} messages, {listed} of them lists, into rows; {Path(__file__).name}"
    yield _row("loop.informer", count / took, "events/s", None, source, better="higher")


def _row(name: str, value: float, unit: str, reference: str | None, source: str, better: str = "lower") -> Row:
    return {
        "name": name, "value": round(value, 3), "unit": unit, "better": better, "reference": reference, "source": source,
    }  # fmt: skip
