"""Clusters from a file, from a name, or by number: their nodes and the pods of others on them."""

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from muster.emulator.hardware.nodes import NodePlan, build_node
from muster.emulator.hardware.shapes import shape_named
from muster.emulator.registry.create import create
from muster.emulator.registry.errors import Json
from muster.emulator.registry.kinds import NOT_READY
from muster.emulator.registry.resources import NAMESPACES, NODES, PODS
from muster.emulator.registry.store import Store
from muster.emulator.settings import Settings

CLUSTERS = Path(__file__).resolve().parents[1] / "clusters"
NODES_PER_RACK, RACKS_PER_BLOCK = 16, 8
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_cluster(store: Store, settings: Settings) -> None:
    """Create the nodes and pods that the settings ask for."""
    described: Json = {}
    if settings.cluster != "empty":
        described = _read(settings.cluster)
    for name in described.get("namespaces") or []:
        create(store, NAMESPACES, "", {"metadata": {"name": name}})
    plans = [*_plans(described.get("nodes") or []), *_generated(settings)]
    for plan in plans:
        _add_node(store, plan)
    for other in described.get("others") or []:
        _add_others(store, plans, other)


def _read(cluster: str) -> Json:
    path = CLUSTERS / f"{cluster}.yaml" if not cluster.endswith((".yaml", ".yml")) else Path(cluster)
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in CLUSTERS.glob("*.yaml")))
        raise ValueError(f"no cluster file {path}; clusters that come along: empty, {known}")
    found: Json = yaml.load(path.read_bytes(), _LOADER) or {}
    return found


def _plans(rows: list[Json]) -> Iterator[NodePlan]:
    number = 0
    known = {field.name for field in fields(NodePlan)} - {"number"}
    for row in rows:
        if "name" not in row or set(row) - known:
            raise ValueError(f"a node of a cluster file has a name and any of {', '.join(sorted(known))}; not {row}")
        for name in expand(row["name"]):
            yield NodePlan(**{**row, "name": name, "number": number})
            number += 1


def expand(pattern: str) -> list[str]:
    """`a[0-3]` names a0, a1, a2 and a3."""
    found = re.fullmatch(r"(.*)\[(\d+)-(\d+)\](.*)", pattern)
    if found is None:
        return [pattern]
    before, first, last, after = found.groups()
    return [f"{before}{at}{after}" for at in range(int(first), int(last) + 1)]


def _generated(settings: Settings) -> Iterator[NodePlan]:
    for at in range(settings.nodes):
        rack = at // NODES_PER_RACK
        yield NodePlan(
            name=f"node-{at:05d}",
            number=1000 + at,
            shape=settings.shape,
            block=f"b{rack // RACKS_PER_BLOCK}",
            rack=f"r{rack}",
        )


def _add_node(store: Store, plan: NodePlan) -> None:
    """Create a node as it looks once its kubelet is ready: without admission's not-ready taint."""
    entry = create(store, NODES, "", build_node(plan))
    node = entry.copy()
    node["spec"]["taints"] = [taint for taint in node["spec"]["taints"] if taint != NOT_READY]
    if not node["spec"]["taints"]:
        del node["spec"]["taints"]
    store.update(NODES, node)


def _add_others(store: Store, plans: list[NodePlan], other: Json) -> None:
    """Pods that are not ours, such as those of DaemonSets: one on each node of a sort, bound by somebody else."""
    chosen = [plan for plan in plans if _is_meant(plan, other.get("on", "all"))][: other.get("count")]
    for at, plan in enumerate(chosen):
        resources = {"requests": {"cpu": str(other.get("cpu", "100m")), "memory": str(other.get("memory", "128Mi"))}}
        name = f"{other['name']}-{at}" if other.get("count") else f"{other['name']}-{plan.name}"
        pod: Json = {
            "metadata": {"name": name, "labels": {"app.kubernetes.io/name": other["name"]}},
            "spec": {
                "nodeName": plan.name,
                "schedulerName": "default-scheduler",
                "priority": 2_000_001_000,
                "containers": [{"name": other["name"], "image": other["image"], "resources": resources}],
                "tolerations": [{"operator": "Exists"}],
            },
        }
        create(store, PODS, other.get("namespace", "kube-system"), pod)


def _is_meant(plan: NodePlan, sort: str) -> bool:
    has_gpus = shape_named(plan.shape).model is not None
    return sort == "all" or (sort == "gpu") == has_gpus
