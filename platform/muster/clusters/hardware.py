"""Writing GPUs, NICs, shapes and flavors, for `observe`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from muster.clusters.choices import Health
from muster.clusters.models import Flavor, Gpu, HardwareShape, Nic, Node
from muster.clusters.seen import NodeSeen, OthersSeen
from muster.clusters.wiring import digest_of, wiring_of
from muster.common.bulk import update_rows
from scheduler.model.hardware import GpuModel, NodeShape

NOT_SEEN = "no longer reported by the node"
VENDOR_RESOURCES = {"amd": "amd.com/gpu", "ascend": "huawei.com/Ascend910", "intel": "gpu.intel.com/i915"}
_GPU_COLUMNS = ("uuid", "flavor", "numa", "switch", "health", "health_reason")
_NIC_COLUMNS = ("name", "numa", "switch", "is_rdma", "health")


class ShapeBook:
    """Hardware shapes by their wiring; a new layout gets a row when it is first seen."""

    def __init__(self) -> None:
        self._keys: dict[NodeShape, int] = {}

    def row(self, shape: NodeShape, source: str) -> int:
        """The pk of the shape's row."""
        if shape not in self._keys:
            wiring = wiring_of(shape)
            row, _ = HardwareShape.objects.get_or_create(
                digest=digest_of(wiring), defaults={"name": shape.name[:80], "source": source, "wiring": wiring}
            )
            self._keys[shape] = row.pk
        return self._keys[shape]


class FlavorBook:
    """Flavors by name; a model nobody has described yet gets a row with what the evidence tells."""

    def __init__(self) -> None:
        self._keys: dict[str, int] = dict(Flavor.objects.values_list("name", "pk"))

    def row(self, model: GpuModel) -> int:
        """The pk of the flavor's row."""
        if model.name not in self._keys:
            described = {
                "vendor": model.vendor,
                "memory_bytes": model.memory,
                "memory_bandwidth_gbs": model.memory_bandwidth or None,
                "compute_capability": model.compute_capability or None,
                "tensor_cores": model.tensor_cores or None,
                "precisions": list(model.precisions),
                "resource": VENDOR_RESOURCES.get(model.vendor, "nvidia.com/gpu"),
            }
            self._keys[model.name] = Flavor.objects.get_or_create(name=model.name, defaults=described)[0].pk
        return self._keys[model.name]


def write_devices(seen: Mapping[Node, NodeSeen], flavors: FlavorBook) -> set[int]:
    """Bring GPUs and NICs of these nodes to what was seen; the pks of nodes where something changed."""
    gpus = {node.pk: _gpu_rows(one, flavors) for node, one in seen.items()}
    nics = {node.pk: _nic_rows(one) for node, one in seen.items()}
    return _write(Gpu, gpus, _GPU_COLUMNS) | _write(Nic, nics, _NIC_COLUMNS)


def _gpu_rows(one: NodeSeen, flavors: FlavorBook) -> dict[int, dict[str, Any]]:
    flavor_id = flavors.row(one.shape.model) if one.shape and one.shape.model else None
    return {
        gpu.index: {
            "uuid": gpu.uuid,
            "flavor_id": flavor_id,
            "numa": gpu.numa,
            "switch": gpu.switch,
            "health": gpu.health,
            "health_reason": gpu.health_reason,
        }
        for gpu in one.gpus
    }


def _nic_rows(one: NodeSeen) -> dict[int, dict[str, Any]]:
    return {
        nic.index: {
            "name": nic.name,
            "numa": nic.numa,
            "switch": nic.switch,
            "is_rdma": nic.is_rdma,
            "health": Health.OK,
        }
        for nic in one.nics
    }


def _write(model: type[Any], seen: Mapping[int, Mapping[int, dict[str, Any]]], columns: Sequence[str]) -> set[int]:
    """Compare by (node, index), then write what differs. A device that is no longer seen stays, its health unknown:
    holds of the past name it."""
    known: dict[int, dict[int, Any]] = defaultdict(dict)
    for row in model.objects.filter(node_id__in=list(seen)):
        known[row.node_id][row.index] = row
    new, changed, stale = [], [], set()
    for node_id, devices in seen.items():
        for index, values in devices.items():
            row = known[node_id].pop(index, None)
            if row is None:
                new.append(model(node_id=node_id, index=index, **values))
                stale.add(node_id)
            elif _differs(row, values):
                changed.append(row)
                stale.add(node_id)
        for row in known[node_id].values():
            unseen: dict[str, Any] = {"health": Health.UNKNOWN}
            if model is Gpu:
                unseen["health_reason"] = NOT_SEEN
            if _differs(row, unseen):
                changed.append(row)
                stale.add(node_id)
    model.objects.bulk_create(new, batch_size=5000)
    update_rows(changed, columns)
    return stale


def _differs(row: Any, values: Mapping[str, Any]) -> bool:
    """Set what differs; whether anything did."""
    different = {name: value for name, value in values.items() if getattr(row, name) != value}
    for name, value in different.items():
        setattr(row, name, value)
    return bool(different)


def write_others(seen: Mapping[Node, OthersSeen]) -> set[int]:
    """Note which GPUs pods of others hold; the pks of nodes where that changed.

    Where nobody says which GPU a pod of others got, it is booked on the highest that nobody is known to have: our own are given
    from the lowest, so that the two guesses meet last.
    """
    by_node = {node.pk: one for node, one in seen.items()}
    gpus: dict[int, list[Gpu]] = defaultdict(list)
    for gpu in Gpu.objects.filter(node_id__in=list(by_node)).order_by("node_id", "index"):
        gpus[gpu.node_id].append(gpu)
    taken = _held_by_us(list(by_node))
    changed = []
    for node_id, one in by_node.items():
        holders = dict(one.gpus)
        free = [gpu.index for gpu in reversed(gpus[node_id]) if gpu.pk not in taken and gpu.index not in holders]
        for pod, count in one.unplaced:
            holders |= dict.fromkeys(free[:count], pod)
            del free[:count]
        for gpu in gpus[node_id]:
            if gpu.others_pod != holders.get(gpu.index, ""):
                gpu.others_pod = holders.get(gpu.index, "")
                changed.append(gpu)
    update_rows(changed, ["others_pod"])
    return {gpu.node_id for gpu in changed}


def _held_by_us(node_ids: list[int]) -> set[int]:
    """GPUs with a live hold of ours. Read by its relation's name: holds live in an app above this one."""
    return set(Gpu.objects.filter(node_id__in=node_ids, holds__state="held").values_list("pk", flat=True))
