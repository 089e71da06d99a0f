"""Devices seen on a node, against those planned: what is seen replaces the plan, and the difference is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog
from django.db import connection, transaction
from prometheus_client import Counter

from muster.clusters.models import Gpu
from muster.placements.actions.holds import touch_nodes
from muster.placements.choices import HoldKind, HoldState
from muster.placements.models import DeviceHold

log = structlog.get_logger(__name__)

DRIFT = Counter("muster_device_drift_total", "Workers seen on other GPUs than planned", ["cluster"])
CONTRADICTIONS = Counter("muster_device_contradictions_total", "GPUs seen in use by two workers", ["cluster"])

_DEFERRED = "hold_one_whole, hold_kinds_never_meet, hold_slices_never_overlap"

Seen = Mapping[int, tuple[int, ...]]
"""Worker pk to the indices of the GPUs seen in its use."""


@dataclass(frozen=True, slots=True)
class _Hold:
    """A whole GPU that a worker holds."""

    pk: int
    worker_id: int
    gpu_id: int
    node_id: int
    index: int
    is_observed: bool


@transaction.atomic
def correct_devices(cluster_id: int, seen: Seen) -> None:
    """Replace planned whole GPUs by those seen, all of a batch in one deferred transaction.

    A GPU seen with one worker but planned for another that has not been seen yet is swapped: the other gets one that became
    free. One that two workers are seen to use is a contradiction; the plan stands there, and it is counted.
    """
    holds = _lock_holds(seen)
    mine: dict[int, list[_Hold]] = {}
    for hold in holds:
        mine.setdefault(hold.worker_id, []).append(hold)
    wrong = [group for pk, group in mine.items() if seen[pk] and {hold.index for hold in group} != set(seen[pk])]
    if wrong:
        _replace(cluster_id, wrong, seen)
    unseen = [hold.pk for hold in holds if not hold.is_observed]
    if unseen:
        DeviceHold.objects.filter(pk__in=unseen).update(is_observed=True)


def _lock_holds(seen: Seen) -> list[_Hold]:
    rows = DeviceHold.objects.select_for_update(no_key=True, of=("self",)).filter(
        worker_id__in=seen, kind=HoldKind.WHOLE, state=HoldState.HELD
    )
    columns = ("pk", "worker_id", "gpu_id", "gpu__node_id", "gpu__index", "is_observed")
    return [_Hold(*row) for row in rows.order_by("pk").values_list(*columns)]


def _replace(cluster_id: int, wrong: Sequence[Sequence[_Hold]], seen: Seen) -> None:
    _check_constraints("DEFERRED")
    for group in wrong:
        DRIFT.labels(cluster_id).inc()
        _swap(cluster_id, group, seen)
    _check_constraints("IMMEDIATE")
    touch_nodes({group[0].node_id for group in wrong})


def _check_constraints(when: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET CONSTRAINTS {_DEFERRED} {when}")


def _swap(cluster_id: int, group: Sequence[_Hold], seen: Seen) -> None:
    """Bring one worker's holds to the GPUs it was seen on."""
    worker_id, node_id = group[0].worker_id, group[0].node_id
    gpus = dict(Gpu.objects.filter(node_id=node_id).values_list("index", "pk"))
    planned = {hold.index: hold for hold in group}
    missing = sorted(set(seen[worker_id]) - set(planned))
    unused = [planned[index] for index in sorted(set(planned) - set(seen[worker_id]))]
    for hold, index in zip(unused, missing, strict=False):
        if index in gpus and _make_room(gpus[index], hold.gpu_id, seen):
            DeviceHold.objects.filter(pk=hold.pk).update(gpu_id=gpus[index], is_observed=True)
        else:
            CONTRADICTIONS.labels(cluster_id).inc()
            log.warning("devices.contradiction", worker=worker_id, node=node_id, index=index)


def _make_room(gpu_id: int, instead: int, seen: Seen) -> bool:
    """Move another worker's hold of this GPU to `instead`; False when that worker is itself seen to use it."""
    others = DeviceHold.objects.select_for_update(no_key=True, of=("self",)).filter(gpu_id=gpu_id, state=HoldState.HELD)
    other = others.values_list("pk", "kind", "is_observed", "worker_id", "gpu__index").first()
    if other is None:
        return True
    pk, kind, is_observed, worker_id, index = other
    if kind != HoldKind.WHOLE or is_observed or index in seen.get(worker_id, ()):
        return False
    DeviceHold.objects.filter(pk=pk).update(gpu_id=instead)
    return True
