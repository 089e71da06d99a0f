"""Cores and memory for workers whose file names none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from muster.workloads.spec.shape import mig_share
from muster.workloads.spec.units import cores

# A worker without GPUs that names nothing: a launcher or a script. Without a request it would be the first the kernel kills.
PLAIN_CPU_MILLI = 1000
PLAIN_MEMORY_BYTES = 2**30
# How many replicas of a time-sliced GPU we reckon with: the device plugin's own examples use four.
USUAL_REPLICAS = 4
MIB = 2**20


@dataclass(frozen=True)
class Share:
    """What belongs to one GPU on the poorest node that would do: thousandths of a core, bytes, bytes of GPU memory."""

    cpu_milli: int
    memory_bytes: int
    gpu_memory_bytes: int


FindShare = Callable[[int], Share | None]
"""From the number of whole GPUs a worker asks for to one GPU's share, None where no node has so many of the kind asked for."""


def fill_defaults(spec: dict[str, Any], find_share: FindShare) -> dict[str, Any]:
    """The spec with cpus and memory of every worker written down."""
    if "roles" not in spec:
        return spec | _missing(spec, _gpus_per_worker(spec, find_share), find_share)
    roles = [role | _missing(role, Decimal(role.get("gpus", 0)), find_share) for role in spec["roles"]]
    return spec | {"roles": roles}


def part_of_gpu(spec: dict[str, Any], find_share: FindShare) -> Decimal:
    """The part of one GPU that `gpu_memory` asks for, on the smallest GPU that would do; a whole one where none is known."""
    share = find_share(1)
    if share is None or not share.gpu_memory_bytes:
        return Decimal(1)
    return min(Decimal(spec["gpu_memory"]) / share.gpu_memory_bytes, Decimal(1))


def _gpus_per_worker(spec: dict[str, Any], find_share: FindShare) -> Decimal:
    if "gpu_fraction" in spec:
        return Decimal(str(spec["gpu_fraction"]))
    if "mig" in spec:
        return mig_share(spec["mig"])
    if "gpu_memory" in spec:
        return part_of_gpu(spec, find_share)
    gpus = Decimal(spec.get("gpus", 0))
    return gpus / USUAL_REPLICAS if spec.get("time_slice") else gpus


def _missing(worker: dict[str, Any], gpus: Decimal, find_share: FindShare) -> dict[str, Any]:
    if not gpus:
        return {
            "cpus": worker.get("cpus", cores(PLAIN_CPU_MILLI)),
            "memory": worker.get("memory", PLAIN_MEMORY_BYTES),
        }
    if "cpus" in worker and "memory" in worker:
        return {}
    share = find_share(max(int(worker.get("gpus", 0)), 1))
    if share is None:
        return {}
    return {
        # Whole tenths of a core and whole MiB: people read these numbers.
        "cpus": worker.get("cpus", cores(int(share.cpu_milli * gpus) // 100 * 100)),
        "memory": worker.get("memory", int(share.memory_bytes * gpus) // MIB * MIB),
    }
