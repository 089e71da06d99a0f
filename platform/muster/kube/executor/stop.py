"""Making one Stop true: SIGTERM with the grace ordered, and the last lines of every log kept."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from muster.kube.executor.followers import MOST_AT_ONCE, Follower, follow
from muster.kube.executor.requests import all_of, chunks, delete, has_started, pods_of
from muster.kube.gateway import Gateway
from muster.kube.manifests.names import WORKER_LABEL
from muster.kube.resources import PODS
from muster.kube.streams.store import keep, read_tail
from muster.placements import actions
from muster.placements.models import Stop
from muster.workloads.models import Worker

Json = dict[str, Any]

AFTER_GRACE_SECONDS = 10
RENEW_SECONDS = 20.0


def run_stop(stop: Stop, gateway: Gateway) -> None:
    """Delete the pods; wait until their logs have ended or the grace and 10 s have passed. Who is gone already is stopped already.

    The first 64 started pods are followed to their end; of a larger gang the others' logs are read just before the deletion.
    """
    pods = _pods(stop, gateway)
    started = [pod for pod in pods if has_started(pod)]
    seconds = stop.grace_seconds + AFTER_GRACE_SECONDS
    followers = follow(gateway, started[:MOST_AT_ONCE], seconds=seconds)
    workers = _workers(pods)
    _keep_now(gateway, started[MOST_AT_ONCE:], workers)
    for chunk in chunks(pods):
        if not actions.renew_lease(stop):
            return
        all_of(lambda pod: _delete(gateway, pod, stop.grace_seconds), chunk)
    _keep_at_end(stop, followers, workers, seconds=seconds)
    actions.finish_intent(stop)


def _pods(stop: Stop, gateway: Gateway) -> list[Json]:
    namespace = stop.attempt.job.tenant.namespace
    pods = pods_of(gateway, namespace, stop.attempt_id)
    if stop.worker_id is None:
        return pods
    return [pod for pod in pods if pod["metadata"]["labels"].get(WORKER_LABEL) == str(stop.worker_id)]


def _workers(pods: Sequence[Json]) -> dict[str, Worker]:
    """The workers of these pods, by pod name."""
    keys = {pod["metadata"]["name"]: int(pod["metadata"]["labels"].get(WORKER_LABEL, 0)) for pod in pods}
    rows = Worker.objects.select_related("attempt", "role").in_bulk(list(keys.values()))
    return {name: rows[key] for name, key in keys.items() if key in rows}


def _delete(gateway: Gateway, pod: Json, grace_seconds: int) -> None:
    delete(gateway, PODS, pod, grace_seconds=grace_seconds if has_started(pod) else 0)


def _keep_now(gateway: Gateway, pods: Sequence[Json], workers: Mapping[str, Worker]) -> None:
    for chunk in chunks(pods):
        tails = all_of(lambda pod: read_tail(gateway, pod["metadata"]["namespace"], pod["metadata"]["name"]), chunk)
        for pod, tail in zip(chunk, tails, strict=True):
            worker = workers.get(pod["metadata"]["name"])
            if tail and worker:
                keep(worker, tail)


def _keep_at_end(
    stop: Stop, followers: Mapping[str, Follower], workers: Mapping[str, Worker], *, seconds: float
) -> None:
    """Store each log as its stream ends; the lease is kept alive meanwhile, however long the grace is."""
    end = time.monotonic() + seconds
    renewed = time.monotonic()
    waiting = dict(followers)
    while waiting:
        for name, follower in list(waiting.items()):
            follower.join(0.0 if len(waiting) > 1 else 0.05)
            is_over = not follower.is_alive() or time.monotonic() > end
            if is_over:
                del waiting[name]
                tail, worker = follower.tail(), workers.get(name)
                if tail and worker:
                    keep(worker, tail)
        if waiting:
            time.sleep(0.05)
        if time.monotonic() - renewed > RENEW_SECONDS:
            renewed = time.monotonic()
            if not actions.renew_lease(stop):
                return
