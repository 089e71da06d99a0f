"""Reads the ResourceSlices that NVIDIA's DRA driver publishes for a node (`resource.k8s.io`, driver `gpu.nvidia.com`)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler.model.evidence.amounts import byte_count, tenths
from scheduler.model.evidence.found import Evidence, FoundGpu, Source
from scheduler.model.evidence.products import model_named

Json = Mapping[str, Any]

DRIVER = "gpu.nvidia.com"
_STANDARD = "resource.kubernetes.io/"
_GPU_NAME = re.compile(r"gpu-(\d+)")
_STOPPING_EFFECTS = frozenset({"NoSchedule", "NoExecute"})


@dataclass(frozen=True)
class _Device:
    name: str
    attributes: Mapping[str, Any]
    """Without the driver's own prefix, values unwrapped."""
    capacity: Mapping[str, str]
    tainted: str
    """Key of a taint that keeps work away; empty = none."""

    @classmethod
    def read(cls, entry: Json) -> _Device:
        entry = {**entry, **(entry.get("basic") or {})}  # v1beta1 wraps what a device has
        attributes = {
            name.removeprefix(f"{DRIVER}/"): _unwrapped(value)
            for name, value in (entry.get("attributes") or {}).items()
        }
        capacity = {
            name.removeprefix(f"{DRIVER}/"): str(_unwrapped(value))
            for name, value in (entry.get("capacity") or {}).items()
        }
        stopping = [
            str(taint.get("key")) for taint in entry.get("taints") or [] if taint.get("effect") in _STOPPING_EFFECTS
        ]
        return cls(str(entry.get("name") or ""), attributes, capacity, stopping[0] if stopping else "")

    @property
    def kind(self) -> str:
        return str(self.attributes.get("type") or ("mig" if "parentUUID" in self.attributes else "gpu"))


def from_slices(slices: Sequence[Json]) -> Evidence:
    """GPUs and MIG instances of one node. A pool counts in its newest generation, and only when all its slices are there."""
    devices, problems = [], []
    for pool, entries in _pools(slices).items():
        newest = max(_generation(entry) for entry in entries)
        current = [entry for entry in entries if _generation(entry) == newest]
        wanted = int((current[0].get("pool") or {}).get("resourceSliceCount") or 1)
        if len(current) < wanted:
            problems.append(f"dra: pool {pool} has {len(current)} of {wanted} slices of generation {newest}")
            continue
        devices += [_Device.read(device) for entry in current for device in entry.get("devices") or []]
    gpus = _gpus(devices)
    mig = Counter(str(device.attributes.get("profile") or "") for device in devices if _is_fixed_instance(device))
    return Evidence(
        gpus=gpus,
        mig=tuple(sorted((profile, count) for profile, count in mig.items() if profile)),
        told_by=(("gpus", Source.DRA),) if gpus else (),
        problems=tuple(problems),
    )


def _pools(slices: Sequence[Json]) -> dict[str, list[Json]]:
    pools: dict[str, list[Json]] = defaultdict(list)
    for one in slices:
        spec = one.get("spec") or {}
        if spec.get("driver") == DRIVER:
            pools[str((spec.get("pool") or {}).get("name") or spec.get("nodeName") or "")].append(spec)
    return pools


def _generation(spec: Json) -> int:
    return int((spec.get("pool") or {}).get("generation") or 0)


def _gpus(devices: Sequence[_Device]) -> tuple[FoundGpu, ...]:
    """Whole GPUs by number; those known only through an instance follow, for a partitioned GPU may not be listed itself."""
    whole = [device for device in devices if device.kind == "gpu"]
    roots = list(dict.fromkeys(_root(device) for device in whole if _root(device)))
    gpus = [_gpu(at, device, roots) for at, device in enumerate(sorted(whole, key=_number))]
    known = {gpu.uuid for gpu in gpus}
    parents: dict[str, _Device] = {}
    for device in devices:
        parent = str(device.attributes.get("parentUUID") or "")
        if device.kind == "mig" and parent and parent not in known:
            parents.setdefault(parent, device)
    for parent, device in parents.items():
        number = _GPU_NAME.match(device.name)
        index = int(number[1]) if number else max((gpu.index for gpu in gpus), default=-1) + 1
        gpus.append(FoundGpu(index, uuid=parent))
    return tuple(sorted(gpus, key=lambda gpu: gpu.index))


def _gpu(at: int, device: _Device, roots: Sequence[str]) -> FoundGpu:
    told = device.attributes
    number, numa, root = _GPU_NAME.match(device.name), told.get(f"{_STANDARD}numaNode"), _root(device)
    capability = str(told.get("cudaComputeCapability") or "")
    memory = device.capacity.get("memory", "")
    return FoundGpu(
        index=int(number[1]) if number else at,
        uuid=str(told.get("uuid") or ""),
        model=model_named(
            str(told.get("productName") or ""),
            memory=byte_count(memory) if memory else 0,
            compute_capability=tenths(capability) if capability else 0,
        ),
        numa=None if numa is None else int(numa),
        switch=roots.index(root) if root else None,
        healthy=not device.tainted,
        reason=f"tainted by its driver: {device.tainted}" if device.tainted else "",
    )


def _number(device: _Device) -> int:
    found = _GPU_NAME.match(device.name)
    return int(found[1]) if found else 1 << 16


def _root(device: _Device) -> str:
    return str(device.attributes.get(f"{_STANDARD}pcieRoot") or "")


def _is_fixed_instance(device: _Device) -> bool:
    """An instance that exists. Under DynamicMIG possible ones are listed too, without a UUID of their own."""
    return device.kind == "mig" and "uuid" in device.attributes


def _unwrapped(value: Any) -> Any:
    """``{string: x}``, ``{version: x}``, ``{int: x}``, ``{value: x}`` -> x."""
    return (
        next((inner for inner in value.values() if not isinstance(inner, Mapping)), None)
        if isinstance(value, Mapping)
        else value
    )
