"""The `cluster` section: levels and nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduler.model.catalogue import SHAPES
from scheduler.model.columns import objects
from scheduler.model.hardware import NodeShape
from scheduler.model.nodes import HOST, NVLINK_DOMAIN, Nodes, Taint
from scheduler.scenario import convert
from scheduler.scenario.document import Section

_REPLICAS_LABEL = "nvidia.com/gpu.replicas"
_NODE_KEYS = (
    "name", "shape", NVLINK_DOMAIN, "labels", "taints", "cpus", "memory", "cordoned", "ready", "unhealthy_gpus", "others",
)  # fmt: skip


@dataclass(frozen=True)
class Cluster:
    levels: tuple[str, ...]
    nodes: Nodes
    names: dict[str, int]
    """Node keys by name."""


def read_cluster(section: Section) -> Cluster:
    """Nodes get keys 1, 2, 3 … in file order."""
    section.check(("levels", "nodes"))
    levels = section.get("levels", convert.names, ())
    for reserved in {HOST, NVLINK_DOMAIN} & set(levels):
        raise section.error("levels", f"`{reserved}` is always a level and is not listed")
    rows: list[dict[str, Any]] = []
    domains: dict[tuple[int, str], int] = {}
    for value in section.need("nodes", list):
        rows += _read_node(Section(section.file, "a node", value, section.values.lines["nodes"]), levels, domains)
    names = {row["name"]: key for key, row in enumerate(rows, start=1)}
    if len(names) < len(rows):
        raise section.error("nodes", "two nodes have the same name")
    return Cluster(levels, _as_nodes(rows, len(levels)), names)


def _read_node(section: Section, levels: tuple[str, ...], domains: dict[tuple[int, str], int]) -> list[dict[str, Any]]:
    """One entry, expanded to its rows."""
    name = section.need("name", convert.text)
    section.what = f"node {name}"
    section.check((*_NODE_KEYS, *levels))
    shape = section.get("shape", _shape, SHAPES["cpu-only"])
    others = section.section("others")
    if others:
        others.check(("gpus", "cpus", "memory"))
    labels: tuple[tuple[str, str], ...] = section.get("labels", _labels, ())
    row = {
        "shape": shape,
        "cpu": section.get("cpus", convert.millicores, shape.cpu),
        "memory": section.get("memory", convert.size, shape.memory),
        "domains": [_domain(section, domains, number, level) for number, level in enumerate(levels)],
        "nvlink_domain": _domain(section, domains, len(levels), NVLINK_DOMAIN),
        "labels": labels,
        "taints": section.get("taints", _taints, ()),
        "ready": section.get("ready", convert.flag, True),
        "cordoned": section.get("cordoned", convert.flag, False),
        "unhealthy": section.get("unhealthy_gpus", convert.gpu_indices, 0) & shape.all_gpus,
        "others_gpus": others.get("gpus", convert.gpu_indices, 0) & shape.all_gpus if others else 0,
        "others_cpu": others.get("cpus", convert.millicores, 0) if others else 0,
        "others_memory": others.get("memory", convert.size, 0) if others else 0,
        "replicas": max(1, int(dict(labels).get(_REPLICAS_LABEL, "1"))),
        "exact": True,
        "images": frozenset(),
    }
    return [row | {"name": one} for one in expand(name)]


def expand(name: str) -> list[str]:
    """``a[0-2]`` to a0, a1, a2."""
    match = re.search(r"\[(\d+)-(\d+)\]", name)
    if not match:
        return [name]
    low, high = int(match[1]), int(match[2])
    return [f"{name[: match.start()]}{number}{name[match.end() :]}" for number in range(low, high + 1)]


def _domain(section: Section, domains: dict[tuple[int, str], int], number: int, level: str) -> int:
    name = section.get(level, convert.text, "")
    return domains.setdefault((number, name), len(domains)) if name else -1


def _shape(value: Any) -> NodeShape:
    if value not in SHAPES:
        raise ValueError(f"there is no shape {value!r}; known are {', '.join(SHAPES)}")
    return SHAPES[value]


def _labels(value: Any) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, convert.label_value(one)) for key, one in (value or {}).items()))


def _taints(value: Any) -> tuple[Taint, ...]:
    taints = []
    for one in value:
        unknown = set(one) - {"key", "value", "effect"}
        if unknown:
            raise ValueError(f"unknown key `{min(unknown)}` in a taint; known are key, value, effect")
        taints.append(Taint(one["key"], convert.label_value(one.get("value", "")), one.get("effect", "NoSchedule")))
    return tuple(taints)


def _as_nodes(rows: list[dict[str, Any]], levels: int) -> Nodes:
    dtypes: dict[str, Any] = {
        "cpu": np.int64, "memory": np.int64, "nvlink_domain": np.int64, "others_cpu": np.int64, "others_memory": np.int64,
        "replicas": np.int64, "ready": np.bool_, "cordoned": np.bool_, "exact": np.bool_, "unhealthy": np.uint32,
        "others_gpus": np.uint32,
    }  # fmt: skip
    columns: dict[str, Any] = {name: np.array([row[name] for row in rows], dtype) for name, dtype in dtypes.items()}
    columns |= {name: objects(row[name] for row in rows) for name in ("name", "shape", "labels", "taints", "images")}
    return Nodes(
        key=np.arange(1, len(rows) + 1, dtype=np.int64),
        domains=np.array([row["domains"] for row in rows], dtype=np.int64).reshape(len(rows), levels),
        **columns,
    )
