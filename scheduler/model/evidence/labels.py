"""Reads node labels: GPU Feature Discovery's, those of clouds, and those of other vendors (`vendors.py`)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scheduler.model.evidence.amounts import byte_count, tenths
from scheduler.model.evidence.found import Evidence, FoundGpu, FoundNic, Source
from scheduler.model.evidence.machines import Wiring, wiring_of
from scheduler.model.evidence.products import model_named
from scheduler.model.evidence.vendors import MACHINE_LABELS, NVLINK_DOMAIN_LABELS, VENDORS, Vendor
from scheduler.model.hardware import GpuModel
from scheduler.model.instances import Instance, instance_of

_MIG_SINGLE = re.compile(r"-MIG-(\S+)$")
_MIG_MIXED = re.compile(r"nvidia\.com/mig-(.+)\.count")
_MIB = 1 << 20
_TIME_SLICING = "time-slicing"
_MAX_GPUS = 16


@dataclass(frozen=True)
class _Labels:
    """A node's labels with its capacity, as one vendor's row reads them."""

    vendor: Vendor
    labels: Mapping[str, str]
    capacity: Mapping[str, str]

    def first(self, keys: Iterable[str]) -> str:
        return next((self.labels[key] for key in keys if self.labels.get(key)), "")

    @property
    def product(self) -> str:
        """Product name; under MIG "mixed" an instance's product names it too."""
        mixed = (value for key, value in self.labels.items() if re.fullmatch(r"nvidia\.com/mig-.+\.product", key))
        return self.first(self.vendor.product) or next(mixed, "") or self.vendor.default

    @property
    def single(self) -> str:
        """The profile under MIG "single", where the node's own product name ends in it; empty otherwise."""
        found = _MIG_SINGLE.search(self.first(self.vendor.product))
        return found[1] if found else ""

    @property
    def capacity_count(self) -> int:
        return next((int(self.capacity[key]) for key in self.vendor.resources if key in self.capacity), 0)

    @property
    def replicas(self) -> int:
        """Workers per time-sliced GPU. GFD sets replicas to the device count on some nodes that share nothing."""
        if self.labels.get("nvidia.com/gpu.sharing-strategy", "none") != _TIME_SLICING:
            return 1
        return max(int(self.labels.get("nvidia.com/gpu.replicas") or 1), 1)


def from_labels(labels: Mapping[str, str], capacity: Mapping[str, str] | None = None) -> Evidence:
    """GPUs that labels (and `status.capacity`) tell of, wired as the catalogue has it for such machines."""
    for vendor in VENDORS:
        read = _Labels(vendor, labels, capacity or {})
        model = _model(read)
        if model is not None or read.capacity_count:
            return _evidence(read, model)
    return Evidence(nvlink_domain=_first(labels, NVLINK_DOMAIN_LABELS))


def _evidence(read: _Labels, model: GpuModel | None) -> Evidence:
    mig = _instances(read)
    count = min(_gpu_count(read, model, mig), _MAX_GPUS)
    machine = _first(read.labels, MACHINE_LABELS)
    wiring = wiring_of(machine, read.product, count)
    parts = [
        ("gpus", count > 0),
        ("links", wiring is not None),
        ("nics", wiring is not None and wiring.nics is not None),
    ]
    return Evidence(
        gpus=tuple(_gpu(index, model, wiring) for index in range(count)),
        links=wiring.links if wiring else None,
        nics=_nics(wiring),
        name=machine,
        replicas=read.replicas,
        mig=tuple(sorted(mig.items())),
        nvlink_domain=_first(read.labels, NVLINK_DOMAIN_LABELS),
        told_by=tuple((part, Source.LABELS) for part, told in parts if told),
    )


def _model(read: _Labels) -> GpuModel | None:
    """The product's flavor. A MIG instance's memory is not its GPU's, so only known products will do there."""
    labels, memory = read.labels, 0
    told = read.first(read.vendor.memory)
    if told and not read.single:
        memory = int(told) * _MIB if told.isdigit() else byte_count(told)
    major = labels.get("nvidia.com/gpu.compute.major", "")
    capability = tenths(f"{major}.{labels.get('nvidia.com/gpu.compute.minor', '0')}") if major else 0
    return model_named(read.product, memory=memory, compute_capability=capability, vendor=read.vendor.name)


def _instances(read: _Labels) -> dict[str, int]:
    """MIG profile -> instances on the node, under either strategy."""
    if read.single:
        return {read.single: int(read.first(read.vendor.count) or 0)}
    found = ((_MIG_MIXED.fullmatch(key), value) for key, value in read.labels.items())
    return {match[1]: int(value) for match, value in found if match}


def _gpu_count(read: _Labels, model: GpuModel | None, mig: Mapping[str, int]) -> int:
    """Physical GPUs. `gpu.count` counts instances under MIG "single", GPUs otherwise, MIG "mixed" included; the capacity counts
    every replica."""
    told = int(read.first(read.vendor.count) or 0)
    if read.single or (mig and not told):
        return _gpus_for(model, mig)
    return told or read.capacity_count // read.replicas


def _gpus_for(model: GpuModel | None, mig: Mapping[str, int]) -> int:
    """The fewest GPUs that hold so many instances."""
    known = {profile: instance_of(model.name, profile) for profile in mig} if model else {}
    cut = {profile: one for profile, one in known.items() if one}
    if len(cut) == 1:
        profile, one = next(iter(cut.items()))
        return math.ceil(mig[profile] / _per_gpu(one))
    return math.ceil(sum(mig[profile] * one.compute / one.total_compute for profile, one in cut.items()))


def _per_gpu(instance: Instance) -> int:
    """How many instances of one profile a GPU holds."""
    used, count = 0, 0
    for start in instance.starts:
        if not used & instance.mask_at(start) and (count + 1) * instance.compute <= instance.total_compute:
            used, count = used | instance.mask_at(start), count + 1
    return count


def _gpu(index: int, model: GpuModel | None, wiring: Wiring | None) -> FoundGpu:
    return FoundGpu(
        index,
        model=model,
        numa=wiring.numa[index] if wiring and wiring.numa else None,
        switch=wiring.switch[index] if wiring and wiring.switch else None,
    )


def _nics(wiring: Wiring | None) -> tuple[FoundNic, ...] | None:
    if wiring is None or wiring.nics is None:
        return None
    return tuple(FoundNic(at, f"nic{at}", nic.numa, nic.switch, nic.rdma) for at, nic in enumerate(wiring.nics))


def _first(labels: Mapping[str, str], keys: Iterable[str]) -> str:
    return next((labels[key] for key in keys if labels.get(key)), "")
