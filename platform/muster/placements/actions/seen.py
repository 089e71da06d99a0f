"""What informer and executor hand over: values, so that kube knows no columns and placements no manifests."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkerSeen:
    """One pod of ours as the informer saw it, or its absence (`phase` gone).

    `phase` is a WorkerPhase; succeeded and failed only when every container has terminated. `exit_code` is that of the container
    that ended worst. `reason` is the pod's own reason (Evicted, OutOfcpu, NodeShutdown, DeletionByPodGC …), else its failed
    container's (Error, OOMKilled), else what it waits for (ImagePullBackOff). `gpus` are the indices seen in use, None: not known.
    """

    worker_id: int
    uid: str
    phase: str
    node: str = ""
    is_stopping: bool = False
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    started_at: dt.datetime | None = None
    ended_at: dt.datetime | None = None
    gpus: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class PodMade:
    """A pod of ours as the API server accepted it."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class OrphanSeen:
    """An object of ours in the cluster that no live attempt knows."""

    kind: str
    namespace: str
    name: str
    uid: str
