"""What must be true when all is over: rows and cluster agree, nothing is held twice, nothing is left."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from muster.clusters.models import Cluster, ClusterStatus
from muster.kube.gateway import Gateway
from muster.kube.manifests.names import ATTEMPT_LABEL
from muster.kube.resources import CONFIGMAPS, PODS, SERVICES
from muster.placements.choices import OPEN_INTENTS, HoldKind, HoldState
from muster.placements.models import DeviceHold, NodeOrder, Orphan, Placement, Stop
from muster.workloads.choices import AttemptState
from muster.workloads.models import Attempt, Job, Worker
from tests.loop.gangs import Gang

REJECTIONS = ("UnexpectedAdmissionError", "OutOfnvidia.com/gpu", "OutOfcpu", "OutOfmemory", "OutOfpods")


def complaints(cluster: Cluster, gangs: list[Gang], devices: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Everything that is not as it must be; `devices` is the kubelets' word on who has which GPU."""
    gateway = Gateway.of(cluster)
    return [
        *_wrong_ends(gangs),
        *_twice_held(),
        *_leaks(devices),
        *_left(gateway),
        *_rejected(),
        *(f"drift {status.drift}" for status in ClusterStatus.objects.filter(cluster=cluster) if status.drift),
    ]


def _wrong_ends(gangs: list[Gang]) -> Iterable[str]:
    """As the pods said: what each gang's containers did decides how its job ends."""
    jobs = Job.objects.in_bulk([gang.job_id for gang in gangs])
    for gang in gangs:
        job = jobs[gang.job_id]
        if job.state not in gang.ends:
            yield f"{gang.name} is {job.state} ({job.state_message}), not {' or '.join(sorted(gang.ends))}"
        last = job.attempts.order_by("number").last()
        if gang.is_refused and not job.attempts.filter(cause="refused").exists():
            yield f"{gang.name} was not refused: this run has proved less than it should"
        if job.state == "succeeded" and last is not None:
            codes = set(Worker.objects.filter(attempt=last).values_list("exit_code", flat=True))
            if codes != {0}:
                yield f"{gang.name} succeeded with exit codes {codes}"
    if Job.objects.count() != len(gangs):
        yield f"{Job.objects.count()} jobs of {len(gangs)} submitted"


def _twice_held() -> Iterable[str]:
    """Over the whole run: the spans in which a GPU was held never overlap."""
    spans = defaultdict(list)
    for hold in DeviceHold.objects.filter(kind=HoldKind.WHOLE).select_related("gpu__node"):
        spans[str(hold.gpu)].append((hold.since, hold.until, hold.worker_id))
    for gpu, held in spans.items():
        held.sort()
        for (_since, until, worker), (since, _until, other) in itertools.pairwise(held):
            if until is None or since < until:
                yield f"GPU {gpu} was held by workers {worker} and {other} at once"


def _leaks(devices: dict[str, list[dict[str, Any]]]) -> Iterable[str]:
    held = DeviceHold.objects.filter(state=HoldState.HELD).count()
    if held:
        yield f"{held} devices are still held"
    for node, gpus in devices.items():
        for gpu in gpus:
            if gpu["holders"]:
                yield f"{node} GPU {gpu['index']} is in use by {gpu['holders']}"
    live = Attempt.objects.exclude(state=AttemptState.ENDED).count()
    if live:
        yield f"{live} attempts have not ended"
    for kind in (Placement, Stop, NodeOrder, Orphan):
        open_rows = kind.objects.filter(state__in=OPEN_INTENTS)
        for row in open_rows:
            yield f"{kind.__name__} {row.pk} is open: {row.last_error}"


def _left(gateway: Gateway) -> Iterable[str]:
    """Nothing of any attempt is in the cluster any more, least of all of a refused one."""
    for resource in (PODS, SERVICES, CONFIGMAPS):
        for items, _version in gateway.pages(resource, labelSelector=ATTEMPT_LABEL):
            for item in items:
                yield f"{resource.plural} {item['metadata']['name']} is left"


def _rejected() -> Iterable[str]:
    """A kubelet refuses a pod whose devices another has: then a device was given out twice."""
    for worker in Worker.objects.filter(reason__in=REJECTIONS):
        yield f"worker {worker.pk} was rejected by its kubelet: {worker.reason} {worker.message}"
