"""Objects that many rows share, kept for the life of the process: one per distinct value, so that rows compare by identity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from muster.clusters.models import Flavor, HardwareShape
from muster.clusters.wiring import gpu_model, node_shape
from muster.placements.load.shapes import job_shape
from muster.workloads.models import JobShape as JobShapeRow
from scheduler.model.hardware import GpuModel, NodeShape
from scheduler.model.jobs import JobShape
from scheduler.model.nodes import Taint

Labels = tuple[tuple[str, str], ...]

BARE = NodeShape(name="unknown", model=None, links=(), numa=(), switch=())
"""A node whose hardware nobody has discovered yet: it has no GPUs to give."""


@dataclass
class Kept:
    """What the rows of one cluster share."""

    models: dict[str, GpuModel] = field(default_factory=dict)
    hardware: dict[int, NodeShape] = field(default_factory=dict)
    shapes: dict[int, JobShape] = field(default_factory=dict)
    shape_keys: dict[int, int] = field(default_factory=dict)
    """id() of a JobShape in `shapes` to its key."""
    labels: dict[str, Labels] = field(default_factory=dict)
    taints: dict[str, tuple[Taint, ...]] = field(default_factory=dict)
    domains: dict[tuple[str, str], int] = field(default_factory=dict)
    """(level, name) to the number it is told apart by; numbers are given as they are met, and decide nothing."""

    def refresh_models(self) -> None:
        """Read the flavors again; hardware that was built from others is built anew when it is met."""
        models = {flavor.name: gpu_model(flavor) for flavor in Flavor.objects.order_by("pk")}
        if models != self.models:
            self.models, self.hardware = models, {}

    def need_hardware(self, keys: Iterable[int | None]) -> None:
        """Read the hardware shapes of these keys that were not met before."""
        new = {key for key in keys if key is not None} - self.hardware.keys()
        rows = list(HardwareShape.objects.filter(pk__in=new))
        if any(row.wiring["model"] and row.wiring["model"] not in self.models for row in rows):
            # A model that was discovered with its first node, after the flavors were read.
            self.models |= {flavor.name: gpu_model(flavor) for flavor in Flavor.objects.all()}
        for row in rows:
            self.hardware[row.pk] = node_shape(row.name, row.wiring, self.models)

    def need_shapes(self, keys: Iterable[int]) -> None:
        """Read the job shapes of these keys that were not met before."""
        new = set(keys) - self.shapes.keys()
        for pk, body in JobShapeRow.objects.filter(pk__in=new).values_list("pk", "body"):
            self.shapes[pk] = job_shape(body)
            self.shape_keys[id(self.shapes[pk])] = pk

    def hardware_of(self, key: int | None) -> NodeShape:
        return BARE if key is None else self.hardware[key]

    def labels_of(self, text: str) -> Labels:
        """Sorted pairs of a JSON object."""
        if text not in self.labels:
            self.labels[text] = tuple(sorted(orjson.loads(text).items()))
        return self.labels[text]

    def taints_of(self, text: str) -> tuple[Taint, ...]:
        """Taints of a JSON list as Kubernetes writes them."""
        if text not in self.taints:
            self.taints[text] = tuple(_taint(one) for one in orjson.loads(text))
        return self.taints[text]

    def domain(self, level: str, name: str | None) -> int:
        """The number of a domain; -1 for none."""
        return self.domains.setdefault((level, name), len(self.domains)) if name else -1


def _taint(taint: dict[str, Any]) -> Taint:
    return Taint(taint["key"], taint.get("value") or "", taint.get("effect") or "NoSchedule")
