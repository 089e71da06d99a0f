"""Reads `muster.scheduler/topology`, the annotation that our node agent writes (`muster.agent`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler.model.evidence.amounts import tenths
from scheduler.model.evidence.found import Evidence, EvidenceError, FoundGpu, FoundNic, Source
from scheduler.model.evidence.products import model_named
from scheduler.model.resources import MILLI_PER_CORE

Json = Mapping[str, Any]


def from_annotation(told: Json) -> Evidence:
    """`told` is the decoded JSON: gpus, links, nics, and of the machine shape, cpus, memory (bytes)."""
    try:
        gpus = tuple(_gpu(entry) for entry in sorted(told.get("gpus") or [], key=lambda entry: int(entry["index"])))
        links = _links(told.get("links"), len(gpus))
        nics = tuple(_nic(at, entry) for at, entry in enumerate(told.get("nics") or []))
        cpu, memory = int(told.get("cpus") or 0) * MILLI_PER_CORE, int(told.get("memory") or 0)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EvidenceError(f"the topology annotation is not as the agent writes it: {error}") from error
    parts = [part for part, is_told in (("gpus", gpus), ("links", links), ("nics", "nics" in told)) if is_told]
    return Evidence(
        gpus=gpus,
        links=links,
        nics=nics if "nics" in told else None,
        name=str(told.get("shape") or ""),
        cpu=cpu,
        memory=memory,
        told_by=tuple((part, Source.ANNOTATION) for part in parts),
    )


def _gpu(entry: Json) -> FoundGpu:
    is_healthy = bool(entry.get("healthy", True))
    capability = entry.get("compute_capability")
    return FoundGpu(
        index=int(entry["index"]),
        uuid=str(entry.get("uuid") or ""),
        model=model_named(
            str(entry["model"]),
            memory=int(entry.get("memory") or 0),
            compute_capability=tenths(str(capability)) if capability else 0,
        ),
        numa=_optional(entry.get("numa")),
        switch=_optional(entry.get("switch")),
        healthy=is_healthy,
        reason="" if is_healthy else str(entry.get("reason") or "reported unhealthy by its node"),
    )


def _nic(at: int, entry: Json) -> FoundNic:
    return FoundNic(
        index=int(entry.get("index", at)),
        name=str(entry.get("name") or f"nic{at}"),
        numa=_optional(entry.get("numa")),
        switch=_optional(entry.get("switch")),
        rdma=bool(entry.get("rdma")),
    )


def _links(rows: Sequence[Sequence[str]] | None, count: int) -> tuple[tuple[str, ...], ...] | None:
    if rows is None:
        return None
    if len(rows) != count or any(len(row) != count for row in rows):
        raise ValueError(f"links must be a {count} x {count} matrix")
    return tuple(tuple(str(cell) for cell in row) for row in rows)


def _optional(value: Any) -> int | None:
    return None if value is None else int(value)
