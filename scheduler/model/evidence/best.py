"""Puts the sources together: part by part, the best one that tells it (DRA, annotation, labels, pasted text)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scheduler.model.evidence.annotation import from_annotation
from scheduler.model.evidence.dra import from_slices
from scheduler.model.evidence.found import Evidence, EvidenceError, Source, merged
from scheduler.model.evidence.labels import from_labels
from scheduler.model.evidence.topo_matrix import from_topo


@dataclass(frozen=True)
class NodeSources:
    """Everything that may tell about one node. Empty = that source is not there."""

    slices: Sequence[Mapping[str, Any]] = ()
    """ResourceSlices of the node."""
    annotation: Mapping[str, Any] | None = None
    """Decoded JSON of `muster.scheduler/topology`."""
    labels: Mapping[str, str] = field(default_factory=dict)
    capacity: Mapping[str, str] = field(default_factory=dict)
    """`status.capacity`: it does not shrink when a device fails."""
    pasted: str = ""
    """Output of `nvidia-smi topo -m`."""


def best_evidence(sources: NodeSources) -> Evidence:
    """A source that cannot be read is noted in `problems` and passed over.

    The devices are those of the best source; what it does not tell of them (DRA knows no NVLink) comes from the next.
    """
    readers: list[tuple[Source, Callable[[], Evidence]]] = []
    if sources.slices:
        readers.append((Source.DRA, lambda: from_slices(sources.slices)))
    if sources.annotation is not None:
        told = sources.annotation
        readers.append((Source.ANNOTATION, lambda: from_annotation(told)))
    if sources.labels or sources.capacity:
        readers.append((Source.LABELS, lambda: from_labels(sources.labels, sources.capacity)))
    if sources.pasted:
        readers.append((Source.PASTED, lambda: from_topo(sources.pasted)))
    best = Evidence()
    for source, read in readers:
        best = merged(best, _read(source, read))
    return best


def _read(source: Source, read: Callable[[], Evidence]) -> Evidence:
    try:
        return read()
    except (EvidenceError, ValueError, TypeError, AttributeError) as error:
        return replace(Evidence(), problems=(f"{source}: {error}",))
