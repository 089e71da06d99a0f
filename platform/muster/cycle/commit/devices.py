"""Device holds of a unit, and whether the devices are still free."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import structlog

from muster.clusters.models import Gpu, Nic
from muster.placements.choices import HoldKind, HoldState
from muster.placements.load import Loaded
from muster.placements.models import DeviceHold
from scheduler.model.hardware import NodeShape
from scheduler.model.instances import instance_of
from scheduler.model.jobs import DeviceKind
from scheduler.model.plan import Unit, WorkerPlacement
from scheduler.model.resources import MILLI_PER_GPU

log = structlog.get_logger(__name__)

HOLD_KINDS = {
    DeviceKind.WHOLE: HoldKind.WHOLE,
    DeviceKind.SHARE: HoldKind.SHARE,
    DeviceKind.MIG: HoldKind.MIG,
    DeviceKind.SLICE: HoldKind.SLICE,
}


@dataclass(frozen=True, slots=True)
class Want:
    """One GPU, or part of one, that a worker is to hold."""

    gpu_id: int
    kind: HoldKind
    milli: int = MILLI_PER_GPU
    slices: tuple[int, int] | None = None
    """[start, end) of a MIG instance."""
    profile: str = ""


@dataclass
class _Use:
    """What is held of one GPU."""

    kinds: set[str] = field(default_factory=set)
    milli: int = 0
    slices: list[tuple[int, int]] = field(default_factory=list)

    def add(self, kind: str, milli: int, slices: tuple[int, int] | None) -> None:
        self.kinds.add(kind)
        self.milli += milli
        if slices is not None:
            self.slices.append(slices)

    def leaves_room(self, want: Want) -> bool:
        if not self.kinds:
            return True
        if want.kind == HoldKind.WHOLE or self.kinds != {want.kind}:
            return False
        if want.slices is not None:
            start, end = want.slices
            return all(end <= taken_start or taken_end <= start for taken_start, taken_end in self.slices)
        return self.milli + want.milli <= MILLI_PER_GPU


class Devices:
    """The GPUs and NICs of a plan's nodes by (node, index)."""

    def __init__(self, loaded: Loaded, units: Sequence[Unit]) -> None:
        nodes = {worker.node for unit in units for worker in unit.workers}
        gpus = Gpu.objects.filter(node__in=nodes).values_list("node_id", "index", "pk")
        nics = Nic.objects.filter(node__in=nodes).values_list("node_id", "index", "pk")
        self.gpu_ids = {(node, index): pk for node, index, pk in gpus}
        self.nic_ids = {(node, index): pk for node, index, pk in nics}
        self._nodes = loaded.snapshot.nodes

    def wants(self, worker: WorkerPlacement) -> list[Want]:
        """What a worker is to hold of GPUs."""
        if worker.kind == DeviceKind.NONE:
            return []
        shape = self._shape_of(worker.node)
        return [
            _want(worker, self.gpu_ids[worker.node, index], shape, self._replicas_of(worker.node))
            for index in worker.gpu_indices
        ]

    def _shape_of(self, node: int) -> NodeShape:
        shape: NodeShape = self._nodes.shape[self._row_of(node)]
        return shape

    def _replicas_of(self, node: int) -> int:
        return int(self._nodes.replicas[self._row_of(node)])

    def _row_of(self, node: int) -> int:
        return int(np.searchsorted(self._nodes.key, node))


def _want(worker: WorkerPlacement, gpu_id: int, shape: NodeShape, replicas: int) -> Want:
    kind = HOLD_KINDS[worker.kind]
    if kind == HoldKind.SHARE:
        return Want(gpu_id, kind, milli=worker.milli)
    if kind == HoldKind.SLICE:
        return Want(gpu_id, kind, milli=MILLI_PER_GPU // replicas)
    if kind == HoldKind.MIG:
        instance = instance_of(shape.model.name, worker.profile) if shape.model else None
        if instance is None:
            raise ValueError(f"{shape.name} has no MIG profile {worker.profile}")
        slices = (worker.mig_start, worker.mig_start + instance.size)
        return Want(gpu_id, kind, slices=slices, profile=worker.profile)
    return Want(gpu_id, kind)


def without_conflicts(units: Sequence[Unit], devices: Devices) -> list[Unit]:
    """The units whose devices nobody holds, found by one query, so that no insert has to fail.

    Under the epoch's fence and the nodes' revisions there is none; a hold that the snapshot missed drops only the units it
    touches. Shares are added up here, since no constraint can. Nominations stand beside the holds of those who are being stopped.
    """
    wants = [[want for worker in unit.workers for want in devices.wants(worker)] for unit in units]
    used = _in_use({want.gpu_id for unit_wants in wants for want in unit_wants})
    kept = []
    for unit, unit_wants in zip(units, wants, strict=True):
        if unit.nominated:
            kept.append(unit)
        elif all(used[want.gpu_id].leaves_room(want) for want in unit_wants):
            kept.append(unit)
            for want in unit_wants:
                used[want.gpu_id].add(want.kind, want.milli, want.slices)
        else:
            log.error("commit.conflict", job=unit.job)
    return kept


def _in_use(gpu_ids: set[int]) -> dict[int, _Use]:
    used: dict[int, _Use] = defaultdict(_Use)
    held = DeviceHold.objects.filter(gpu__in=gpu_ids, state=HoldState.HELD)
    for gpu_id, kind, milli, slices in held.values_list("gpu_id", "kind", "milli", "slices"):
        used[gpu_id].add(kind, milli, (slices.lower, slices.upper) if slices is not None else None)
    return used
