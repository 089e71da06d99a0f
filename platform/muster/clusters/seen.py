"""What the informer hands over of nodes: values, so that kube knows no columns and clusters no Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from muster.clusters.choices import Health
from scheduler.model.hardware import NodeShape


@dataclass(frozen=True, slots=True)
class GpuSeen:
    """One GPU as the node's evidence tells it."""

    index: int
    uuid: str = ""
    numa: int | None = None
    switch: int | None = None
    health: str = Health.OK
    health_reason: str = ""


@dataclass(frozen=True, slots=True)
class NicSeen:
    """One network card."""

    index: int
    name: str
    numa: int | None = None
    switch: int | None = None
    is_rdma: bool = False


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """A node with its hardware. `source` is the evidence of its shape; `shape` None: nothing is known of it."""

    name: str
    uid: str
    ready: bool
    cordoned: bool
    labels: Mapping[str, str]
    taints: list[dict[str, Any]]
    domains: Mapping[str, str]
    nvlink_domain: str = ""
    cpu_milli: int = 0
    memory_bytes: int = 0
    pods: int = 110
    conditions: list[dict[str, Any]] = field(default_factory=list)
    shape: NodeShape | None = None
    source: str = ""
    gpus: tuple[GpuSeen, ...] = ()
    nics: tuple[NicSeen, ...] = ()


@dataclass(frozen=True, slots=True)
class OthersSeen:
    """What pods that are not ours take from a node. `gpus`: index to namespace/name; `unplaced`: pods whose GPUs nobody names,
    with how many."""

    cpu_milli: int = 0
    memory_bytes: int = 0
    pods: int = 0
    gpus: Mapping[int, str] = field(default_factory=dict)
    unplaced: tuple[tuple[str, int], ...] = ()
