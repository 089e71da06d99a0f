"""A cluster that never was, for the map and the wiring on the styleguide and for measuring the map at any size."""

from __future__ import annotations

import random
from typing import Any

TENANTS = {1: "vision", 2: "language", 3: "robotics"}
QUEUES = {
    1: ("train", 1),
    2: ("eval", 1),
    3: ("pretrain", 2),
    4: ("finetune", 2),
    5: ("notebooks", 2),
    6: ("simulation", 3),
}
JOB_NAMES = [
    "llama-ft",
    "vit-large",
    "segment-anything",
    "dreamer",
    "whisper-distil",
    "reward-model",
    "tokenizer",
    "clip-336",
]
SINCE = "2026-11-29T09:20:00+00:00"

Node = dict[str, Any]


def _hold(job: int, **more: Any) -> dict[str, Any]:
    queue = job % 6 + 1
    kind = "batch" if job % 7 == 0 else "training"
    usual = {"kind": "whole", "milli": 1000, "state": "held", "job_kind": kind, "job_state": "running", "since": SINCE}
    return {"job": job, "tenant": QUEUES[queue][1], "queue": queue, **usual, **more}


def _gpu(index: int, rng: random.Random, job: int | None) -> dict[str, Any]:
    place = {"index": index, "numa": index // 4, "switch": index // 2, "flavor": "H100-80GB"}
    gpu: dict[str, Any] = place | {"health": "ok", "why": "", "others": False, "holds": []}
    draw = rng.random()
    if draw < 0.006:
        return gpu | {"health": "unhealthy", "why": "Xid 79: fell off the bus"}
    if job is not None:
        return gpu | {"holds": [_hold(job)]}
    if draw < 0.03:
        return gpu | {"others": True}
    if draw < 0.06:
        return gpu | {"holds": [_hold(int(draw * 1e4), kind="share", milli=rng.choice([250, 500, 750]))]}
    if draw < 0.075:
        return gpu | {"holds": [_hold(int(draw * 1e4), state="nominated")]}
    return gpu


def node(number: int, rng: random.Random, job: int | None) -> Node:
    """A node of eight GPUs in a rack of four and a block of three racks; `job` fills it, or part of it."""
    rack = number // 4 if number < 96 else number // 16
    filled = rng.choice([8, 8, 8, 6, 4, 2]) if job is not None else 0
    return {
        "id": f"node:{number + 1}",
        "pk": number + 1,
        "version": 1,
        "name": f"h100-{number:02d}",
        "domains": {"block": f"b{rack // 3}" if number < 96 else f"b{rack // 40}", "rack": f"r{rack}"},
        "ready": rng.random() > 0.004,
        "cordoned": number % 23 == 11,
        "shape": 2 if number % 6 == 5 else 1,
        "gpus": [_gpu(i, rng, job if i < filled else None) for i in range(8)],
    }


def cluster(nodes: int, *, seed: int = 7) -> dict[str, Any]:
    """What the map's endpoint answers, for a cluster of `nodes`; three jobs in four belong to tenants one can see."""
    rng = random.Random(seed)
    jobs = [rng.randrange(1, max(8, nodes // 3)) for _ in range(nodes)]
    jobs.sort(key=lambda job: job * 7919 % 101)
    built = [node(i, rng, job if rng.random() < 0.8 else None) for i, job in enumerate(jobs)]
    seen = {hold["job"] for one in built for gpu in one["gpus"] for hold in gpu["holds"] if hold["job"] % 4}
    names = {
        "tenants": {str(pk): name for pk, name in TENANTS.items()},
        "queues": {str(pk): name for pk, (name, _) in QUEUES.items()},
        "jobs": {str(pk): {"name": f"{JOB_NAMES[pk % len(JOB_NAMES)]}-{pk}", "url": "#"} for pk in seen},
    }
    groups = {"1": [list(range(8))], "2": [[0, 1], [2, 3], [4, 5], [6, 7]]}
    return {"levels": ["block", "rack"], "groups": groups, "nodes": built, "names": names}


def wiring() -> dict[str, Any]:
    """One node with a fully joined NVLink group, eight NICs and three jobs on it."""
    rng = random.Random(3)
    one = node(2, rng, None)
    for gpu in one["gpus"]:
        gpu |= {"holds": [], "others": False}
    for gpu in one["gpus"][:4]:
        gpu["holds"] = [_hold(9)]
    for gpu in one["gpus"][4:6]:
        gpu["holds"] = [_hold(13)]
    one["gpus"][7] |= {"health": "unhealthy", "why": "Xid 79"}
    return {
        "node": one,
        "nics": [{"index": i, "name": f"mlx5_{i}", "numa": i // 4, "switch": i // 2, "rdma": True} for i in range(8)],
        "links": [[0 if i == j else 18 for j in range(8)] for i in range(8)],
        "names": {
            "tenants": {},
            "queues": {},
            "jobs": {"9": {"name": "llama-ft", "url": "#"}, "13": {"name": "vit-large", "url": "#"}},
        },
    }
