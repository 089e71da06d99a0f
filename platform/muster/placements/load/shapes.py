"""A job shape as stored, in the scenario format's words, to the core's JobShape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.workloads.spec import roles_of
from muster.workloads.spec.units import cpu_milli
from scheduler.model.jobs import (
    DeviceKind,
    Devices,
    GpuNeeds,
    JobKind,
    JobShape,
    Locality,
    Role,
    Slice,
    Toleration,
    TopologyNeeds,
    Want,
)

Body = Mapping[str, Any]


def job_shape(body: Body) -> JobShape:
    """The shape that `body` (seconds, bytes, whole numbers) describes."""
    return JobShape(
        roles=tuple(_role(role, body) for role in roles_of(dict(body))),
        kind=JobKind(body.get("kind", "training")),
        topology=_topology(body.get("topology") or {}),
        selector=tuple(sorted((body.get("node_selector") or {}).items())),
        tolerations=tuple(_toleration(one) for one in body.get("tolerations") or ()),
        locality=_locality(body.get("locality") or {}),
        nic=Want(body.get("nic", "preferred")),
        spread=bool(body.get("spread", False)),
        exclusive=bool(body.get("exclusive", False)),
        preemptible=bool(body.get("preemptible", True)),
    )


def _role(role: Body, body: Body) -> Role:
    devices = _devices(role, body)
    workers = int(role["workers"])
    return Role(
        name=role["name"],
        workers=workers,
        min_workers=int(role.get("min_workers", workers)),
        cpu=cpu_milli(role["cpus"]),
        memory=int(role["memory"]),
        devices=devices,
        gpu=GpuNeeds() if devices.kind == DeviceKind.NONE else _needs(body.get("gpu") or {}),
        near=role.get("near", ""),
        apart=role.get("apart", ""),
    )


def _devices(role: Body, body: Body) -> Devices:
    """What one worker asks of GPUs; parts of a GPU are said once for the whole job."""
    if "gpu_fraction" in body:
        return Devices(DeviceKind.SHARE, count=1, milli=cpu_milli(body["gpu_fraction"]))
    if "gpu_memory" in body:
        return Devices(DeviceKind.SHARE, count=1, memory=int(body["gpu_memory"]))
    if "mig" in body:
        return Devices(DeviceKind.MIG, count=1, profile=body["mig"])
    gpus = int(role.get("gpus", 0))
    if not gpus:
        return Devices()
    return Devices(DeviceKind.SLICE if body.get("time_slice") else DeviceKind.WHOLE, count=gpus)


def _needs(gpu: Body) -> GpuNeeds:
    return GpuNeeds(
        models=tuple(gpu.get("model", ())),
        vendor=gpu.get("vendor", ""),
        min_memory=int(gpu.get("min_memory", 0)),
        min_compute_capability=round(float(gpu.get("min_compute_capability", 0)) * 10),
        min_memory_bandwidth=int(gpu.get("min_memory_bandwidth", 0)),
        min_tensor_cores=int(gpu.get("min_tensor_cores", 0)),
        precision=tuple(gpu.get("precision", ())),
        nvlink=Want(gpu.get("nvlink", "preferred")),
    )


def _topology(topology: Body) -> TopologyNeeds:
    cut = topology.get("slice")
    part = Slice(int(cut["workers"]), cut["required"]) if cut else None
    for want in (Want.REQUIRED, Want.PREFERRED):
        if want in topology:
            return TopologyNeeds(topology[want], want, part)
    return TopologyNeeds(slice=part)


def _locality(locality: Body) -> Locality | None:
    for want in (Want.REQUIRED, Want.PREFERRED):
        if want in locality:
            return Locality(locality[want], want)
    return None


def _toleration(one: Body) -> Toleration:
    return Toleration(
        key=one.get("key", ""),
        operator=one.get("operator", "Equal"),
        value=str(one.get("value", "")),
        effect=one.get("effect", ""),
    )
