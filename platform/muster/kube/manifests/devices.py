"""From held devices to what a pod asks for: extended resources, annotations and variables (executor/README.md has the table).

Which GPU a pod gets is ours to say only on `exact` pools; on `count` pools the kubelet chooses and the pod must not name any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson

from muster.clusters.choices import Binding
from muster.kube.errors import BadRequest
from muster.kube.manifests.gang import Device, Member
from muster.kube.manifests.names import DEVICES_ANNOTATION
from muster.placements.choices import HoldKind

MIB = 1024**2
SHARED_RESOURCE_SUFFIX = ".shared"
MIG_PREFIX = "nvidia.com/mig-"


class NoMechanism(BadRequest):
    """The node's pool has no mechanism for what this worker was given."""

    code = "no_sharing_mechanism"


@dataclass
class DeviceDemand:
    """What one container asks for: integer `resources`, pod `annotations`."""

    resources: dict[str, int] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)


def demand(member: Member, container: str) -> DeviceDemand:
    """The devices of one worker in the words of its node's pool; NoMechanism where the pool cannot give them."""
    gpus = [device for device in member.devices if device.kind != HoldKind.NIC]
    asked = _BY_KIND[HoldKind(gpus[0].kind)](member, gpus) if gpus else DeviceDemand()
    if member.binding == Binding.EXACT and (gpus or member.nics):
        asked.annotations[DEVICES_ANNOTATION] = orjson.dumps({container: chosen(gpus, member.nics)}).decode()
    return asked


def chosen(gpus: Sequence[Device], nics: Sequence[str] = ()) -> dict[str, object]:
    """The devices of one container as node agents read them: GPU indices, how they are held, the NIC beside them."""
    told: dict[str, object] = {"gpus": [device.index for device in gpus]}
    if gpus:
        first = gpus[0]
        told |= {"kind": first.kind, "uuids": [device.uuid for device in gpus]}
        if first.kind in (HoldKind.SHARE, HoldKind.SLICE):
            told["milli"] = first.milli
        if first.kind == HoldKind.MIG:
            told |= {"mig": first.profile, "start": first.start}
    if nics:
        told["nic"] = nics[0]
    return told


def _whole(_member: Member, gpus: Sequence[Device]) -> DeviceDemand:
    return DeviceDemand(dict(Counter(device.resource for device in gpus)))


def _share(member: Member, gpus: Sequence[Device]) -> DeviceDemand:
    """A share of one GPU: by HAMi as memory and cores, by MPS as one client's place, by a node agent as told in the annotation."""
    if member.sharing == "hami":
        return _hami(gpus)
    if member.binding == Binding.EXACT:
        return DeviceDemand()
    if member.sharing == "mps":
        return _replicas(gpus)
    raise NoMechanism(f"The pool of node {member.node} names no mechanism for shares of a GPU (hami or mps).")


def _hami(gpus: Sequence[Device]) -> DeviceDemand:
    """HAMi's words: memory in MiB and percent of the cores; which GPU it is stands in the scheduler's annotation."""
    first = gpus[0]
    memory = first.memory_bytes * first.milli // 1000 // MIB
    cores = max(1, first.milli // 10)
    vendor = first.resource.partition("/")[0]
    brand = vendor.partition(".")[0].upper()
    told = ":".join(f"{device.uuid},{brand},{memory},{cores}" for device in gpus)
    return DeviceDemand(
        {first.resource: len(gpus), f"{vendor}/gpumem": memory, f"{vendor}/gpucores": cores},
        {"hami.io/vgpu-devices-to-allocate": f"{told}:;", "hami.io/bind-phase": "allocating"},
    )


def _slice(member: Member, gpus: Sequence[Device]) -> DeviceDemand:
    """A replica of a time-sliced GPU."""
    if member.binding == Binding.EXACT:
        return DeviceDemand()
    if member.sharing == "time-slicing":
        return _replicas(gpus)
    raise NoMechanism(f"The pool of node {member.node} does not slice time.")


def _replicas(gpus: Sequence[Device]) -> DeviceDemand:
    """Replicas under the name that the device plugin gives them (`renameByDefault`)."""
    return DeviceDemand(dict(Counter(device.resource + SHARED_RESOURCE_SUFFIX for device in gpus)))


def _mig(member: Member, gpus: Sequence[Device]) -> DeviceDemand:
    """MIG instances by profile, as the device plugin's `mixed` strategy names them; an agent finds the instance by its start."""
    if member.binding == Binding.EXACT:
        return DeviceDemand()
    return DeviceDemand(dict(Counter(MIG_PREFIX + device.profile.replace("+", ".") for device in gpus)))


_BY_KIND = {HoldKind.WHOLE: _whole, HoldKind.SHARE: _share, HoldKind.SLICE: _slice, HoldKind.MIG: _mig}
