"""Reading nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from muster.clusters.discovery import Reading
from muster.clusters.levels import domains_of
from muster.clusters.seen import NodeSeen
from muster.kube.discovery import hardware_of
from muster.kube.executor.plugins.nodes import is_ready
from muster.kube.quantities import milli, whole

Json = dict[str, Any]

#: Written every few seconds by kubelets; a row that held them would differ with every heartbeat.
_RESTLESS = ("lastHeartbeatTime",)
_READ_OF_STATUS = ("allocatable", "capacity", "conditions")


def node_seen(node: Json, reading: Reading, slices: Sequence[Json] = ()) -> NodeSeen:
    """A Node object as clusters reads it, with the ResourceSlices of its devices."""
    meta, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    labels = meta.get("labels") or {}
    allocatable = status.get("allocatable") or {}
    hardware = hardware_of(node, reading.pasted_for(labels), slices)
    return NodeSeen(
        name=meta["name"],
        uid=meta["uid"],
        ready=is_ready(node) and not meta.get("deletionTimestamp"),
        cordoned=bool(spec.get("unschedulable")),
        labels=labels,
        taints=[_taint(taint) for taint in spec.get("taints") or []],
        domains=domains_of(reading.levels, labels),
        nvlink_domain=labels.get(reading.nvlink_label, "") if reading.nvlink_label else hardware.nvlink_domain,
        cpu_milli=milli(allocatable.get("cpu", "0")),
        memory_bytes=whole(allocatable.get("memory", "0")),
        pods=whole(allocatable.get("pods", "110")),
        conditions=[_condition(condition) for condition in status.get("conditions") or []],
        shape=hardware.shape,
        source=hardware.source,
        gpus=hardware.gpus,
        nics=hardware.nics,
    )


def remembered(node: Json) -> Json:
    """What `node_seen` reads of a node: the list of its images and who wrote which field are most of the rest."""
    meta, status = node["metadata"], node.get("status") or {}
    return {
        "metadata": {key: value for key, value in meta.items() if key != "managedFields"},
        "spec": node.get("spec") or {},
        "status": {key: value for key, value in status.items() if key in _READ_OF_STATUS},
    }


def _taint(taint: Json) -> Json:
    return {key: taint[key] for key in ("key", "value", "effect") if taint.get(key)}


def _condition(condition: Json) -> Json:
    return {key: value for key, value in condition.items() if key not in _RESTLESS}
