"""Reading pods: ours become observations of workers, those of others become what they take from a node."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

import orjson

from muster.kube.manifests.names import ATTEMPT_LABEL, OBSERVED_DEVICES_ANNOTATION, WORKER_LABEL
from muster.kube.quantities import milli, whole
from muster.placements.actions import WorkerSeen
from muster.workloads.choices import WorkerPhase

Json = dict[str, Any]

FINISHED = ("Succeeded", "Failed")
_PHASES = {"Pending": WorkerPhase.PENDING, "Running": WorkerPhase.RUNNING, "Unknown": WorkerPhase.RUNNING}


@dataclass(frozen=True, slots=True)
class Usage:
    """What one pod that is not ours takes from its node."""

    node: str
    pod: str
    cpu_milli: int = 0
    memory_bytes: int = 0
    gpu_count: int = 0
    gpus: tuple[int, ...] | None = None


def is_ours(pod: Json) -> bool:
    """Whether the pod is a worker of an attempt."""
    labels = pod["metadata"].get("labels") or {}
    return ATTEMPT_LABEL in labels and str(labels.get(WORKER_LABEL, "")).isdecimal()


def attempt_of(item: Json) -> int:
    """The attempt an object of ours belongs to; 0 where its label is none of ours."""
    label = str((item["metadata"].get("labels") or {}).get(ATTEMPT_LABEL, ""))
    return int(label) if label.isdecimal() else 0


def worker_seen(pod: Json) -> WorkerSeen:
    """A pod of ours as placements reads it."""
    meta, status = pod["metadata"], pod.get("status") or {}
    containers = status.get("containerStatuses") or []
    ended = [state["terminated"] for state in _states(containers) if state.get("terminated")]
    worst = max(ended, key=lambda one: (one.get("exitCode", 0) != 0, one.get("finishedAt") or ""), default=None)
    return WorkerSeen(
        worker_id=int(meta["labels"][WORKER_LABEL]),
        uid=meta["uid"],
        phase=_phase(status, containers, len(ended)),
        node=(pod.get("spec") or {}).get("nodeName") or "",
        is_stopping=bool(meta.get("deletionTimestamp")),
        exit_code=worst.get("exitCode") if worst else None,
        reason=status.get("reason") or _reason(worst, containers),
        message=status.get("message") or _message(worst, containers),
        started_at=_moment(_first(containers, "startedAt")),
        ended_at=_moment(worst.get("finishedAt")) if worst else None,
        gpus=devices_of(pod),
    )


def worker_gone(worker_id: int, uid: str) -> WorkerSeen:
    """The absence of a pod."""
    return WorkerSeen(worker_id=worker_id, uid=uid, phase=WorkerPhase.GONE)


def usage(pod: Json) -> Usage | None:
    """What a pod of somebody else takes; None while it is on no node, or has ended."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in FINISHED:
        return None
    requests = _requests(spec)
    gpus = devices_of(pod)
    return Usage(
        node=spec["nodeName"],
        pod=f"{pod['metadata']['namespace']}/{pod['metadata']['name']}",
        cpu_milli=milli(requests.get("cpu", "0")),
        memory_bytes=whole(requests.get("memory", "0")),
        gpu_count=sum(whole(value) for name, value in requests.items() if name.endswith("/gpu")),
        gpus=gpus,
    )


def devices_of(pod: Json) -> tuple[int, ...] | None:
    """Indices of the GPUs that the node agent says a pod uses; None: nobody says."""
    told = (pod["metadata"].get("annotations") or {}).get(OBSERVED_DEVICES_ANNOTATION)
    if told is None:
        return None
    try:
        containers = orjson.loads(told).values()
        return tuple(sorted({int(index) for container in containers for index in container.get("gpus") or ()}))
    except (orjson.JSONDecodeError, AttributeError, TypeError, ValueError):
        return None


def _phase(status: Json, containers: list[Json], ended: int) -> str:
    """Finished only when every container has ended: a Failed pod may still be using its devices."""
    phase = status.get("phase", "Pending")
    if phase in FINISHED and ended == len(containers):
        return WorkerPhase.SUCCEEDED if phase == "Succeeded" else WorkerPhase.FAILED
    if phase in FINISHED:
        return WorkerPhase.RUNNING
    return _PHASES.get(phase, WorkerPhase.PENDING)


def _states(containers: list[Json]) -> list[Json]:
    return [container.get("state") or {} for container in containers]


def _reason(worst: Json | None, containers: list[Json]) -> str:
    if worst is not None and worst.get("exitCode"):
        return str(worst.get("reason") or "Error")
    waiting = [state["waiting"] for state in _states(containers) if state.get("waiting")]
    return str(waiting[0].get("reason") or "") if waiting else ""


def _message(worst: Json | None, containers: list[Json]) -> str:
    if worst is not None:
        return str(worst.get("message") or "")
    waiting = [state["waiting"] for state in _states(containers) if state.get("waiting")]
    return str(waiting[0].get("message") or "") if waiting else ""


def _first(containers: list[Json], key: str) -> str | None:
    times = [part[key] for state in _states(containers) for part in state.values() if part and part.get(key)]
    return min(times, default=None)


def _moment(stamp: str | None) -> dt.datetime | None:
    return dt.datetime.fromisoformat(stamp.replace("Z", "+00:00")) if stamp else None


def _requests(spec: Json) -> dict[str, Any]:
    """Effective requests: the containers' sum with sidecars, or the largest init container, and the overhead on top."""
    if (spec.get("resources") or {}).get("requests"):
        return dict(spec["resources"]["requests"])
    total: dict[str, int] = {}
    for container in spec.get("containers") or []:
        _add(total, container)
    peak: dict[str, int] = {}
    sidecars: dict[str, int] = {}
    for container in spec.get("initContainers") or []:
        if container.get("restartPolicy") == "Always":
            _add(sidecars, container)
        else:
            alone = dict(sidecars)
            _add(alone, container)
            peak = {name: max(peak.get(name, 0), alone.get(name, 0)) for name in {*peak, *alone}}
    running = {name: total.get(name, 0) + sidecars.get(name, 0) for name in {*total, *sidecars}}
    effective = {name: max(running.get(name, 0), peak.get(name, 0)) for name in {*running, *peak}}
    for name, quantity in (spec.get("overhead") or {}).items():
        effective[name] = effective.get(name, 0) + milli(quantity)
    return {name: f"{value}m" for name, value in effective.items()}


def _add(total: dict[str, int], container: Json) -> None:
    resources = container.get("resources") or {}
    for name, quantity in {**(resources.get("limits") or {}), **(resources.get("requests") or {})}.items():
        total[name] = total.get(name, 0) + milli(quantity)
