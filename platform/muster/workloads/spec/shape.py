"""The part of a canonical spec that decides where a job can go, in the scenario format's own keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

SHAPE_KEYS = (
    "kind",
    "workers",
    "gpus",
    "cpus",
    "memory",
    "gpu_fraction",
    "gpu_memory",
    "mig",
    "time_slice",
    "gpu",
    "locality",
    "nic",
    "exclusive",
    "topology",
    "node_selector",
    "tolerations",
    "spread",
)
ROLE_KEYS = ("name", "workers", "gpus", "cpus", "memory", "near", "apart")


def shape_body(spec: dict[str, Any]) -> dict[str, Any]:
    """The body of the JobShape of `spec`; jobs that ask alike get equal bodies."""
    body = {key: spec[key] for key in SHAPE_KEYS if key in spec}
    if "roles" in spec:
        body["roles"] = [{key: role[key] for key in ROLE_KEYS if key in role} for role in spec["roles"]]
    return body


def digest(body: Any) -> str:
    """SHA-256 of the body's only spelling."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def roles_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The roles of a canonical spec, each with name, workers, gpus, cpus, memory; a job without `roles` has one, `worker`."""
    found = spec.get("roles") or [
        {"name": "worker", **{key: spec[key] for key in ROLE_KEYS if key in spec and key != "name"}}
    ]
    return [{"gpus": 0, "cpus": 0, "memory": 0, "ends_job": False, **role} for role in found]


def mig_share(profile: str) -> Decimal:
    """The part of a GPU's seven compute slices that `3g.40gb` takes."""
    return Decimal(profile.partition("g")[0]) / 7


def gpus_wanted(spec: dict[str, Any], share_of_memory: Callable[[int], Decimal]) -> Decimal:
    """GPUs of the whole gang, to the thousandth; `share_of_memory` says which part of a GPU some bytes of it are."""
    workers = Decimal(spec.get("workers", 1))
    if "gpu_fraction" in spec:
        wanted = workers * Decimal(str(spec["gpu_fraction"]))
    elif "mig" in spec:
        wanted = workers * mig_share(spec["mig"])
    elif "gpu_memory" in spec:
        wanted = workers * share_of_memory(spec["gpu_memory"])
    else:
        wanted = Decimal(sum(role["workers"] * role["gpus"] for role in roles_of(spec)))
    return round(wanted, 3)
