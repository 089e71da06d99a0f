"""From a Node object to its hardware: which GPUs, how they are wired, which evidence says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from muster.clusters.choices import Health
from muster.clusters.seen import GpuSeen, NicSeen
from muster.kube.manifests.names import TOPOLOGY_ANNOTATION
from muster.kube.quantities import whole
from scheduler.model.evidence.best import NodeSources, best_evidence
from scheduler.model.evidence.found import Evidence, FoundGpu
from scheduler.model.evidence.topo_matrix import from_topo
from scheduler.model.hardware import NodeShape

Json = dict[str, Any]

WITHHELD = "the kubelet offers fewer GPUs than there are"


@dataclass(frozen=True)
class Hardware:
    """What is known of a node's devices."""

    shape: NodeShape | None = None
    source: str = ""
    nvlink_domain: str = ""
    gpus: tuple[GpuSeen, ...] = ()
    nics: tuple[NicSeen, ...] = ()


def hardware_of(node: Json, pasted: str = "", slices: Sequence[Json] = ()) -> Hardware:
    """Put together from the best evidence there is: the node's ResourceSlices, what is on the node itself, and last what was
    pasted for its pool; nothing known is an empty Hardware."""
    status = node.get("status") or {}
    sources = NodeSources(
        slices=slices,
        annotation=_annotation(node),
        labels=node["metadata"].get("labels") or {},
        capacity=status.get("capacity") or {},
    )
    found = best_evidence(sources)
    # A text with another number of GPUs is of another machine: it tells nothing of this one.
    if pasted and len(from_topo(pasted).gpus) == len(found.gpus):
        found = best_evidence(replace(sources, pasted=pasted))
    gpus = tuple(_gpu(gpu) for gpu in found.gpus)
    return Hardware(
        shape=found.shape(),
        source=found.source,
        nvlink_domain=found.nvlink_domain,
        gpus=_withheld(gpus, status.get("capacity") or {}, status.get("allocatable") or {}),
        nics=_nics(found),
    )


def _annotation(node: Json) -> Json | None:
    told = (node["metadata"].get("annotations") or {}).get(TOPOLOGY_ANNOTATION)
    try:
        return orjson.loads(told) if told else None
    except orjson.JSONDecodeError:
        return None


def _gpu(gpu: FoundGpu) -> GpuSeen:
    return GpuSeen(
        index=gpu.index,
        uuid=gpu.uuid,
        numa=gpu.numa,
        switch=gpu.switch,
        health=Health.OK if gpu.healthy else Health.UNHEALTHY,
        health_reason="" if gpu.healthy else gpu.reason,
    )


def _withheld(
    gpus: tuple[GpuSeen, ...], capacity: Mapping[str, str], offered: Mapping[str, str]
) -> tuple[GpuSeen, ...]:
    """A device plugin takes a failed GPU off what is allocatable and tells nobody which: as many are of unknown health."""
    resource = next((name for name in capacity if name.endswith("/gpu") and whole(capacity[name]) == len(gpus)), None)
    if resource is None or not gpus:
        return gpus
    sick = sum(gpu.health != Health.OK for gpu in gpus)
    missing = len(gpus) - whole(offered.get(resource, "0")) - sick
    healthy = [gpu.index for gpu in gpus if gpu.health == Health.OK]
    unknown = set(healthy[len(healthy) - missing :]) if missing > 0 else set()
    return tuple(
        replace(gpu, health=Health.UNKNOWN, health_reason=WITHHELD) if gpu.index in unknown else gpu for gpu in gpus
    )


def _nics(found: Evidence) -> tuple[NicSeen, ...]:
    return tuple(NicSeen(nic.index, nic.name, nic.numa, nic.switch, nic.rdma) for nic in found.nics or ())
