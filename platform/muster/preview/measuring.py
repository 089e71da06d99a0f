"""What fits now and what is stranded, on preview's own snapshot.

    {"free_gpus": 37.5, "free_whole_nodes": 3, "fragmentation": 0.21, "stranded_gpus": 4.5,
     "fits": {"sizes": [{"gpus": 1, "jobs": 37, "joined": 37}, …], "largest_gpus": 8,
              "domains": [{"level": "rack", "nodes": 2, "jobs": 1}, …], "largest": [{"level": "rack", "nodes": 3, "jobs": 1}, …]},
     "stranded": [{"node": 12, "name": "n12", "gpus": 2.0, "cause": "cpu"}, …], "stranded_by": {"cpu": 2.0, …},
     "per_gpu": {"cpu_milli": 1000, "memory_bytes": 1073741824}, "mix_from": "learned"}

Fragmentation is the part of the free GPUs that the mix cannot use, null where nothing is free.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from muster.fragmentation.mixes import learned
from muster.placements.load import Loaded
from scheduler.model.resources import MILLI_PER_GPU
from scheduler.model.snapshot import Snapshot
from scheduler.score.frag.fits import CLUSTER, PerGpu, fits_now, fragments, free_milli, stranded
from scheduler.score.frag.learn import mix_of
from scheduler.score.frag.mix import WorkloadMix

SHOWN = 200
"""Nodes with stranded GPUs that are named; the sums count all."""


def measure(loaded: Loaded, *, cpu: int | None = None, memory: int | None = None) -> dict[str, Any]:
    """The cluster as it is now. `cpu` (millicores) and `memory` (bytes) come with each GPU; None: as the mix asks."""
    snapshot = loaded.snapshot
    known = learned(loaded.cluster_id)
    mix = known.mix if known else mix_of(snapshot)
    needs = _needs(mix, cpu, memory)
    fits = fits_now(snapshot, needs)
    rows, sums = _stranded(snapshot, needs, mix)
    free = free_milli(snapshot)
    return {
        "free_gpus": _gpus(free.sum()),
        "free_whole_nodes": next((one.nodes for one in fits.largest if one.level == CLUSTER), 0),
        "fragmentation": _fragmentation(snapshot, mix, int(free.sum())),
        "stranded_gpus": round(sum(sums.values()), 3),
        "fits": asdict(fits),
        "stranded": rows,
        "stranded_by": sums,
        "per_gpu": {"cpu_milli": needs.cpu, "memory_bytes": needs.memory},
        "mix_from": "learned" if known else "present",
    }


def _needs(mix: WorkloadMix, cpu: int | None, memory: int | None) -> PerGpu:
    """What each GPU must come with: what three in four of the workers with whole GPUs ask at least."""
    whole = [(task, share) for task, share in mix if task.gpus and not task.is_share]
    least_cpu = _lower_quartile([(task.cpu // task.gpus, share) for task, share in whole])
    least_memory = _lower_quartile([(task.memory // task.gpus, share) for task, share in whole])
    return PerGpu(least_cpu if cpu is None else cpu, least_memory if memory is None else memory)


def _lower_quartile(amounts: list[tuple[int, float]]) -> int:
    """The amount that a quarter of the (amount, weight) pairs stays at or below; 0 of none."""
    rest = sum(weight for _, weight in amounts) / 4
    for amount, weight in sorted(amounts):
        rest -= weight
        if rest <= 0:
            return amount
    return 0


def _fragmentation(snapshot: Snapshot, mix: WorkloadMix, free: int) -> float | None:
    """ΣF over what is free; None where nothing is, or nobody asks for GPUs."""
    if not free or not any(task.gpus for task, _ in mix):
        return None
    return round(float(fragments(snapshot, mix).sum()) / free, 4)


def _stranded(snapshot: Snapshot, needs: PerGpu, mix: WorkloadMix) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Nodes with most stranded first, and the sum over all nodes by cause, in GPUs."""
    found = [
        (int(milli[row]), str(cause), int(row))
        for cause, milli in stranded(snapshot, needs, mix).items()
        for row in np.flatnonzero(milli)
    ]
    sums: dict[str, int] = {}
    for milli, cause, _ in found:
        sums[cause] = sums.get(cause, 0) + milli
    found.sort(key=lambda one: (-one[0], one[2]))
    nodes = snapshot.nodes
    rows = [
        {"node": int(nodes.key[row]), "name": nodes.name[row], "gpus": _gpus(milli), "cause": cause}
        for milli, cause, row in found[:SHOWN]
    ]
    return rows, {cause: _gpus(milli) for cause, milli in sorted(sums.items())}


def _gpus(milli: Any) -> float:
    return int(milli) / MILLI_PER_GPU
