"""Random worlds full of what gangs may ask for at once: roles, slices, spread, sharing, elasticity. By seed, as scenario values."""

from __future__ import annotations

from random import Random
from typing import Any

from scheduler.model.catalogue import SHAPES

NODE_SHAPES = (*(name for name in SHAPES if name != "dgx-h200"), "cpu-only")
LEVELS: tuple[list[str], ...] = ([], ["rack"], ["block", "rack"])


def random_world(seed: int) -> dict[str, Any]:
    """Up to ten nodes and ten jobs in two queues."""
    rng = Random(seed)
    levels, shapes = rng.choice(LEVELS), rng.sample(NODE_SHAPES, rng.randint(1, 3))
    return {
        "name": f"seed {seed}",
        "cluster": {"levels": levels, "nodes": [_node(rng, i, levels, shapes) for i in range(rng.randint(1, 10))]},
        "queues": {"a": {"limit": rng.choice([4, 16, 100]), "guaranteed": rng.choice([0, 8])}, "b": {}},
        "jobs": [_job(rng, i, levels) for i in range(rng.randint(1, 10))],
        "policy": {
            "placement": rng.choice(["pack", "pack", "spread", "fragmentation"]),
            "backfill": rng.random() < 0.8,
        },
    }


def _node(rng: Random, number: int, levels: list[str], shapes: list[str]) -> dict[str, Any]:
    shape = rng.choice(shapes)
    gpus = SHAPES[shape].gpu_count
    node: dict[str, Any] = {"name": f"n{number}", "shape": shape}
    node |= {level: f"{level}{rng.randint(0, 2)}" for level in levels if rng.random() < 0.9}
    if shape == "gb200-tray" and rng.random() < 0.8:
        node["nvlink_domain"] = f"d{rng.randint(0, 1)}"
    if gpus and rng.random() < 0.4:
        node["others"] = {"gpus": sorted(rng.sample(range(gpus), rng.randint(1, gpus))), "cpus": rng.randint(0, 20)}
    if gpus and rng.random() < 0.1:
        node["unhealthy_gpus"] = [rng.randrange(gpus)]
    node |= {"ready": rng.random() < 0.95, "cordoned": rng.random() < 0.05}
    if rng.random() < 0.1:
        node["labels"] = {"nvidia.com/gpu.replicas": "2"}
    return node


def _devices(rng: Random) -> dict[str, Any]:
    kinds: list[dict[str, Any]] = [
        {"gpus": rng.choice([1, 1, 2, 3, 4, 8])},
        {"gpus": rng.choice([1, 2, 4])},
        {"gpu_fraction": rng.choice([0.1, 0.3, 0.5, 0.7, 1.0])},
        {"gpu_memory": rng.choice(["10Gi", "20Gi", "50Gi"])},
        {"mig": rng.choice(["1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb"])},
        {},
    ]
    amounts = {"cpus": rng.choice([0, 1, 8, 30]), "memory": rng.choice([0, 0, "10Gi", "200Gi"])}
    return rng.choice(kinds) | amounts


def _roles(rng: Random) -> list[dict[str, Any]]:
    roles = []
    for number in range(rng.randint(2, 3)):
        role = {"name": f"r{number}", "workers": rng.randint(1, 3)} | _devices(rng)
        if number:
            role |= rng.choice([{}, {"near": "r0"}, {"apart": "r0"}])
        roles.append(role | rng.choice([{}, {}, {"min_workers": 1}]))
    return roles


def _job(rng: Random, number: int, levels: list[str]) -> dict[str, Any]:
    job: dict[str, Any] = {"name": f"j{number}", "queue": rng.choice("ab"), "submitted": rng.randint(0, 5)}
    if rng.random() < 0.25:
        job["roles"] = _roles(rng)
    else:
        job |= {"workers": rng.choice([1, 1, 2, 3, 4, 6, 9])} | _devices(rng) | rng.choice([{}, {}, {"min_workers": 1}])
    wishes: list[tuple[float, dict[str, Any]]] = [
        (0.2, {"exclusive": True}),
        (0.2, {"spread": True}),
        (0.2, {"gpu": {"nvlink": rng.choice(["required", "any"])}}),
        (0.15, {"locality": {rng.choice(["required", "preferred"]): rng.choice(["nvlink", "switch", "numa"])}}),
        (0.15, {"nic": rng.choice(["required", "any"])}),
        (0.1, {"time_slice": True}),
        (0.1, {"preemptible": False}),
        (0.3, {"topology": _topology(rng, levels)}),
    ]
    for chance, wish in wishes:
        if rng.random() < chance:
            job |= wish
    return job


def _topology(rng: Random, levels: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {rng.choice(["required", "preferred"]): rng.choice([*levels, "host", "nvlink_domain"])}
    if rng.random() < 0.5:
        found["slice"] = {"workers": rng.choice([2, 3]), "required": rng.choice([*levels, "host"])}
    return found
