"""From a Node object to its hardware: which GPUs, how they are wired, which evidence says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from muster.clusters.choices import Health
from muster.clusters.seen import GpuSeen, NicSeen
from muster.kube.manifests.names import TOPOLOGY_ANNOTATION
from scheduler.model.catalogue import GPU_MODELS
from scheduler.model.hardware import GpuModel, Nic, NodeShape, discovered

Json = dict[str, Any]


@dataclass(frozen=True)
class Hardware:
    """What is known of a node's devices."""

    shape: NodeShape | None = None
    source: str = ""
    gpus: tuple[GpuSeen, ...] = ()
    nics: tuple[NicSeen, ...] = ()


def hardware_of(node: Json) -> Hardware:
    """The best evidence there is on the node itself; nothing known is an empty Hardware."""
    told = (node["metadata"].get("annotations") or {}).get(TOPOLOGY_ANNOTATION)
    if told:
        try:
            return _annotated(orjson.loads(told))
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
            return Hardware(source="annotation")
    return Hardware()


def _annotated(told: Json) -> Hardware:
    """The node agent's own annotation: GPUs, links as `nvidia-smi topo -m` prints them, NICs."""
    entries = sorted(told.get("gpus") or [], key=lambda gpu: gpu["index"])
    nics = told.get("nics") or []
    shape = discovered(
        _model(entries[0]) if entries else None,
        links=told.get("links") or [],
        numa=[_number(gpu.get("numa"), 0) for gpu in entries],
        switch=[_number(gpu.get("switch"), -1 - gpu["index"]) for gpu in entries],
        nics=[Nic(_number(nic.get("numa"), 0), _number(nic.get("switch"), -1), bool(nic.get("rdma"))) for nic in nics],
        name=str(told.get("shape") or "discovered"),
    )
    return Hardware(
        shape=_sized(shape, told),
        source="annotation",
        gpus=tuple(_gpu(entry) for entry in entries),
        nics=tuple(_nic(at, entry) for at, entry in enumerate(nics)),
    )


def _sized(shape: NodeShape, told: Json) -> NodeShape:
    return NodeShape(
        shape.name,
        shape.model,
        shape.links,
        shape.numa,
        shape.switch,
        shape.nics,
        cpu=int(told.get("cpus") or 0) * 1000,
        memory=int(told.get("memory") or 0),
    )


def _model(gpu: Json) -> GpuModel:
    """The catalogue's model of that name, else one made of what the annotation tells."""
    name = str(gpu["model"])
    if name in GPU_MODELS:
        return GPU_MODELS[name]
    capability = gpu.get("compute_capability")
    return GpuModel(name, int(gpu.get("memory") or 0), round(float(capability) * 10) if capability else 0)


def _gpu(entry: Json) -> GpuSeen:
    is_healthy = entry.get("healthy", True)
    return GpuSeen(
        index=int(entry["index"]),
        uuid=str(entry.get("uuid") or ""),
        numa=entry.get("numa"),
        switch=entry.get("switch"),
        health=Health.OK if is_healthy else Health.UNHEALTHY,
        health_reason="" if is_healthy else str(entry.get("reason") or "reported unhealthy by its node"),
    )


def _nic(at: int, entry: Json) -> NicSeen:
    return NicSeen(
        index=int(entry.get("index", at)),
        name=str(entry.get("name") or f"nic{at}"),
        numa=entry.get("numa"),
        switch=entry.get("switch"),
        is_rdma=bool(entry.get("rdma")),
    )


def _number(value: Any, otherwise: int) -> int:
    return otherwise if value is None else int(value)
