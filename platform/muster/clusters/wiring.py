"""`HardwareShape.wiring`: how a node's layout is stored. Discovery writes it, the cycle's load reads it.

    {"model": "H100-80GB", "links": [[0, 18, …], …], "numa": [0, …], "switch": [0, …],
     "nics": [{"numa": 0, "switch": 0, "rdma": true, "exclusive": false}, …], "cpu": 112000, "memory": 2199023255552}

`links[i][j]` counts the NVLink connections between two GPUs; `cpu` is in thousandths of a core, `memory` in bytes. `model` is a
Flavor's name, null on nodes without GPUs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from muster.clusters.models import Flavor
from scheduler.model.hardware import GpuModel, Nic, NodeShape


def wiring_of(shape: NodeShape) -> dict[str, Any]:
    """The stored form of a shape."""
    return {
        "model": shape.model.name if shape.model else None,
        "links": [list(row) for row in shape.links],
        "numa": list(shape.numa),
        "switch": list(shape.switch),
        "nics": [asdict(nic) for nic in shape.nics],
        "cpu": shape.cpu,
        "memory": shape.memory,
    }


def digest_of(wiring: Mapping[str, Any]) -> str:
    """The same for shapes wired alike, whatever they are called."""
    return hashlib.sha256(json.dumps(wiring, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def node_shape(name: str, wiring: Mapping[str, Any], models: Mapping[str, GpuModel]) -> NodeShape:
    """The shape that a stored form describes; `models` are the flavors by name."""
    return NodeShape(
        name=name,
        model=models[wiring["model"]] if wiring["model"] else None,
        links=tuple(tuple(row) for row in wiring["links"]),
        numa=tuple(wiring["numa"]),
        switch=tuple(wiring["switch"]),
        nics=tuple(Nic(**nic) for nic in wiring["nics"]),
        cpu=wiring["cpu"],
        memory=wiring["memory"],
    )


def gpu_model(flavor: Flavor) -> GpuModel:
    """A flavor as the core knows it."""
    return GpuModel(
        name=flavor.name,
        memory=flavor.memory_bytes,
        compute_capability=flavor.compute_capability or 0,
        vendor=flavor.vendor,
        memory_bandwidth=flavor.memory_bandwidth_gbs or 0,
        tensor_cores=flavor.tensor_cores or 0,
        precisions=tuple(flavor.precisions),
    )
