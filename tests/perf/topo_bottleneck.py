"""How fast the GPUs we choose can talk, on real nodes: ours against the lowest indices, a random set and the best there is.

For every `nvidia-smi topo -m` of a folder, random sets of free GPUs are drawn; each policy chooses 2, 3, 4 or 6 of them, and the
choice is worth the slowest link of its best ring (nominal GB/s).

    python -m tests.perf.topo_bottleneck          # the table
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from scheduler.model.bandwidth import ring_within
from scheduler.model.catalogue import GPU_MODELS
from scheduler.model.evidence.found import Evidence, FoundGpu, merged
from scheduler.model.evidence.topo_matrix import from_topo
from scheduler.model.hardware import NodeShape, gpus_of, mask_of
from scheduler.model.tables import DeviceNeed, table_of
from tests.hardware.facts import DATA

SIZES = (2, 3, 4, 6)
DRAWS = 200
SEED = 42
MODELS = {
    "a100_pcie": "A100-PCIE-80GB",
    "aws_p4d": "A100-40GB",
    "cloud_a100": "A100-80GB",
    "dgx1_v100": "V100-16GB",
    "v100": "V100-32GB",
    "dgx_a100": "A100-80GB",
    "hgx_a100": "A100-80GB",
    "gb200": "GB200-192GB",
    "l40s": "L40S-48GB",
    "rtx4090": "RTX4090-24GB",
}
"""Beginning of a file's name -> GPU model; others count as H100."""
POLICIES = ("ours", "lowest", "random", "best")


@dataclass(frozen=True)
class Line:
    """Mean GB/s of one matrix and size, by policy."""

    name: str
    size: int
    speed: dict[str, float]


def shapes() -> dict[str, NodeShape]:
    """Every matrix as a shape, by file name."""
    found = {}
    for path in sorted((DATA / "topo").glob("*.txt")):
        evidence = from_topo(path.read_text())
        name = next((model for start, model in MODELS.items() if path.stem.startswith(start)), "H100-80GB")
        models = Evidence(gpus=tuple(FoundGpu(gpu.index, model=GPU_MODELS[name]) for gpu in evidence.gpus))
        shape = merged(evidence, models).shape()
        assert shape is not None
        found[path.stem] = shape
    return found


def lines() -> Iterator[Line]:
    """One line per matrix and size that it has GPUs for."""
    rng = np.random.default_rng(SEED)
    for name, shape in shapes().items():
        for size in SIZES:
            if size <= shape.gpu_count:
                free = [mask_of(_drawn(rng, shape.gpu_count, size)) for _ in range(DRAWS)]
                yield Line(name, size, {policy: _mean(shape, policy, free, size, rng) for policy in POLICIES})


def _drawn(rng: np.random.Generator, count: int, size: int) -> list[int]:
    """A random set of free GPUs, at least as many as asked for."""
    return [int(gpu) for gpu in rng.choice(count, int(rng.integers(size, count + 1)), replace=False)]


def _mean(shape: NodeShape, policy: str, free: list[int], size: int, rng: np.random.Generator) -> float:
    return float(np.mean([_speed(shape, policy, mask, size, rng) for mask in free]))


def _speed(shape: NodeShape, policy: str, free: int, size: int, rng: np.random.Generator) -> float:
    gpus = gpus_of(free)
    if policy == "best":
        return max(_worth(shape, mask_of(chosen)) for chosen in combinations(gpus, size))
    if policy == "ours":
        return _worth(shape, int(table_of(shape, DeviceNeed(size)).chosen[free]))
    chosen = gpus[:size] if policy == "lowest" else rng.choice(gpus, size, replace=False).tolist()
    return _worth(shape, mask_of(chosen))


def _worth(shape: NodeShape, chosen: int) -> float:
    border = ring_within(shape, chosen)
    assert border is not None
    return border.gigabytes


def rows() -> Iterator[dict[str, Any]]:
    """The mean over all matrices and sizes, per policy; ours with the lowest indices as its reference."""
    table = list(lines())
    if not table:
        print("topo: SKIPPED, the matrices are not here (set MUSTER_TEST_DATA to their folder)", file=sys.stderr)
        return
    mean = {policy: round(float(np.mean([line.speed[policy] for line in table])), 1) for policy in POLICIES}
    for policy in POLICIES:
        yield {
            "name": "topo.bottleneck" if policy == "ours" else f"topo.bottleneck.{policy}",
            "value": mean[policy],
            "unit": "GB/s of the slowest link",
            "better": "higher",
            "reference": mean["lowest"],
            "source": f"{len(table)} cases on real matrices, {DRAWS} random free sets each; reference: lowest indices",
        }


def main() -> None:
    print("| machine | GPUs | " + " | ".join(POLICIES) + " |")
    print("|---|---|" + "---|" * len(POLICIES))
    for line in lines():
        print(f"| {line.name} | {line.size} | " + " | ".join(f"{line.speed[policy]:.0f}" for policy in POLICIES) + " |")


if __name__ == "__main__":
    main()
