"""Who has which device on one node, and the kubelet's admission by resources.

The scheduler names devices in the annotation `muster.scheduler/devices` (JSON: container → {gpus, kind, milli, mig,
start, nic}); what a pod got is shown in `muster.scheduler/devices-observed`, in the same form.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import orjson

from muster.emulator.registry.errors import Json
from muster.emulator.registry.quantities import in_units

WANTED = "muster.scheduler/devices"
OBSERVED = "muster.scheduler/devices-observed"
GPU_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu")
#: A share of one GPU is counted in thousandths.
WHOLE = 1000
_NATIVE_ORDER = ("pods", "cpu", "memory", "ephemeral-storage")


class Rejection(Exception):
    """The kubelet refuses a pod: `reason` and `message` of its status."""

    def __init__(self, reason: str, message: str):
        super().__init__(message)
        self.reason = reason
        self.message = f"Pod was rejected: {message}"


@dataclass(frozen=True, slots=True)
class Hold:
    """A pod's part of one GPU."""

    uid: str
    pod: str  # namespace/name
    kind: str = "whole"  # whole | share | mig | slice
    milli: int = WHOLE
    mig: str | None = None
    start: int | None = None


@dataclass(slots=True)
class DeviceTable:
    """The GPUs of one node by index; the topology annotation says which there are."""

    healthy: dict[int, bool] = field(default_factory=dict)
    is_exact: bool = True  # False: the annotation is not obeyed, as with a plain device plugin
    holds: dict[int, list[Hold]] = field(default_factory=dict)

    def release(self, uid: str) -> None:
        for index, held in self.holds.items():
            self.holds[index] = [hold for hold in held if hold.uid != uid]

    def allocate(self, pod: Json, *, keeps: bool = False) -> Json | None:
        """Take what a pod's containers want; returns what it got, None when it wants no device.

        With `keeps` it has its devices already: their health is not asked for.
        """
        wanted = read_wanted(pod, OBSERVED if keeps else WANTED) if self.is_exact or keeps else {}
        was_healthy = self.healthy
        if keeps:
            self.healthy = dict.fromkeys(self.healthy, True)
        got: Json = {}
        try:
            for container in pod["spec"]["containers"]:
                given = self._allocate_container(pod, container, wanted.get(container["name"]))
                if given is not None:
                    got[container["name"]] = given
        except Rejection:
            self.release(pod["metadata"]["uid"])
            raise
        finally:
            self.healthy = was_healthy
        return got or None

    def _allocate_container(self, pod: Json, container: Json, wanted: Json | None) -> Json | None:
        requests = (container.get("resources") or {}).get("requests") or {}
        count = sum(in_units(name, requests[name]) for name in GPU_RESOURCES if name in requests)
        if wanted is None:
            if count == 0 or not self.healthy:
                return None
            wanted = {"gpus": self._lowest_free(count)}
        gpus = wanted.get("gpus") or []
        kind = wanted.get("kind", "whole")
        if kind == "whole" and len(gpus) != count:
            raise _unexpected(f"{count} devices requested and {len(gpus)} named")
        meta = pod["metadata"]
        hold = Hold(
            uid=meta["uid"], pod=f"{meta['namespace']}/{meta['name']}", kind=kind,
            milli=wanted.get("milli", WHOLE), mig=wanted.get("mig"), start=wanted.get("start"),
        )  # fmt: skip
        for index in gpus:
            self._take(index, hold)
        return {**wanted, "gpus": gpus, "kind": kind} if gpus or "nic" in wanted else None

    def _lowest_free(self, count: int) -> list[int]:
        free = [index for index, is_healthy in sorted(self.healthy.items()) if is_healthy and not self.holds.get(index)]
        if len(free) < count:
            raise _unexpected(f"requested number of devices unavailable: requested {count}, available {len(free)}")
        return free[:count]

    def _take(self, index: int, hold: Hold) -> None:
        held = self.holds.setdefault(index, [])
        if index not in self.healthy:
            raise _unexpected(f"there is no GPU {index}")
        if not self.healthy[index]:
            raise _unexpected(f"GPU {index} is unhealthy")
        if any(not _fits_beside(hold, other) for other in held):
            raise _unexpected(f"GPU {index} is in use by {held[0].pod}")
        if hold.kind == "share" and hold.milli + sum(other.milli for other in held) > WHOLE:
            raise _unexpected(f"GPU {index} has no share of {hold.milli}/1000 left")
        held.append(hold)


def _fits_beside(hold: Hold, other: Hold) -> bool:
    """Whether two pods may have parts of one GPU: of one kind, shares any, MIG instances at different places."""
    if hold.kind != other.kind or hold.kind == "whole":
        return False
    return hold.kind == "share" or hold.start != other.start


def _unexpected(why: str) -> Rejection:
    return Rejection("UnexpectedAdmissionError", f"Allocate failed due to {why}, which is unexpected")


def read_wanted(pod: Json, annotation: str) -> Json:
    """The devices that an annotation of the pod names, by container; {} when it cannot be read."""
    try:
        found = orjson.loads((pod["metadata"].get("annotations") or {}).get(annotation) or "{}")
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: entry for name, entry in found.items() if isinstance(entry, dict)}


def check_resources(asked: dict[str, int], others: Iterable[dict[str, int]], allocatable: Json) -> None:
    """Raise OutOf… for the first resource that a pod and those on the node would together ask too much of.

    Amounts as `pods.requests_of` counts them, with 1 under `pods` for each pod.
    """
    used: dict[str, int] = {}
    for other in others:
        for name, amount in other.items():
            used[name] = used.get(name, 0) + amount
    names = [*_NATIVE_ORDER, *sorted(name for name in asked if name not in _NATIVE_ORDER)]
    for name in names:
        amount, has = asked.get(name, 0), in_units(name, allocatable.get(name, 0))
        if amount > 0 and used.get(name, 0) + amount > has:
            told = f"{name}, requested: {amount}, used: {used.get(name, 0)}, capacity: {has}"
            raise Rejection(f"OutOf{name}", f"Node didn't have enough resource: {told}")
