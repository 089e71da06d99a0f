"""Which GPUs of a node a worker gets: every set is looked at, the best by the rules is taken."""

from __future__ import annotations

from itertools import combinations

from scheduler.model.hardware import NodeShape
from scheduler.model.jobs import DeviceKind, JobShape, Role, Want
from scheduler.model.resources import MILLI_PER_GPU
from scheduler.oracle.world import OracleNode

Gpus = tuple[int, ...]


def joined(shape: NodeShape, gpus: Gpus) -> bool:
    """Any two of them are joined by NVLink directly."""
    return all(shape.links[a][b] for a, b in combinations(gpus, 2))


def on_one_switch(shape: NodeShape, gpus: Gpus) -> bool:
    """They sit on one PCIe switch."""
    return len({shape.switch[gpu] for gpu in gpus}) <= 1


def on_one_numa(shape: NodeShape, gpus: Gpus) -> bool:
    """They sit in one NUMA node."""
    return len({shape.numa[gpu] for gpu in gpus}) <= 1


def quality(shape: NodeShape, gpus: Gpus) -> int:
    """Link quality of a set, 60 to 100."""
    if joined(shape, gpus):
        return 100
    if on_one_switch(shape, gpus):
        return 85
    return 75 if on_one_numa(shape, gpus) else 60


def has_near_nic(shape: NodeShape, gpus: Gpus) -> bool:
    """A NIC sits on a switch or in a NUMA node of one of these GPUs."""
    numas, switches = {shape.numa[gpu] for gpu in gpus}, {shape.switch[gpu] for gpu in gpus}
    return any(nic.numa in numas or (nic.switch >= 0 and nic.switch in switches) for nic in shape.nics)


def meets_requirements(job: JobShape, role: Role, shape: NodeShape, gpus: Gpus) -> bool:
    """What the job requires of the links inside a worker's set."""
    checks = {"nvlink": joined, "switch": on_one_switch, "numa": on_one_numa}
    if role.gpu.nvlink == Want.REQUIRED and not joined(shape, gpus):
        return False
    if job.locality and job.locality.want == Want.REQUIRED and not checks[job.locality.link](shape, gpus):
        return False
    return job.nic != Want.REQUIRED or has_near_nic(shape, gpus)


def choices(job: JobShape, role: Role, node: OracleNode) -> list[Gpus]:
    """Every set of GPUs that a worker could be given on the node now, best first; one empty set where it asks for none."""
    if role.devices.kind == DeviceKind.NONE:
        return [()]
    if role.devices.kind == DeviceKind.SHARE:
        return share_choices(role, node)
    sets = [
        gpus
        for gpus in combinations(sorted(node.free), role.devices.count)
        if meets_requirements(job, role, node.shape, gpus)
    ]
    return sorted(sets, key=lambda gpus: whole_rank(node, gpus))


def whole_rank(node: OracleNode, gpus: Gpus) -> tuple[object, ...]:
    """Sort key, best first: link quality, the best rest, the lowest indices."""
    rest = node.free - set(gpus)
    groups = sorted((len(rest & members(group)) for group in node.shape.nvlink_groups), reverse=True)
    numas = sum(members(group) <= rest for group in node.shape.numa_groups)
    switches = sum(members(group) <= rest for group in node.shape.switch_groups)
    return -quality(node.shape, gpus), [-count for count in groups], -numas, -switches, gpus


def members(mask: int) -> set[int]:
    """GPUs of a mask."""
    return {gpu for gpu in range(mask.bit_length()) if mask >> gpu & 1}


def share_choices(role: Role, node: OracleNode) -> list[Gpus]:
    """A GPU already shared before a fresh one, the tightest that fits; then what leaves the best rest."""
    assert node.shape.model is not None
    milli = role.devices.milli_on(node.shape.model)
    if milli > MILLI_PER_GPU:
        return []
    shared = sorted((left, gpu) for gpu, left in node.shared.items() if left >= milli)
    fresh = sorted(node.free, key=lambda gpu: whole_rank(node, (gpu,)))
    return [(gpu,) for gpu in [*(gpu for _, gpu in shared), *fresh]]
