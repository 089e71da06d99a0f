"""Which nodes can take a worker, and which of them is best."""

from __future__ import annotations

from scheduler.model.hardware import GpuModel
from scheduler.model.jobs import DeviceKind, JobShape, Role, Toleration, Want
from scheduler.model.nodes import Taint
from scheduler.model.policy import PlacementPolicy
from scheduler.oracle.devices import choices, quality
from scheduler.oracle.world import OracleNode


def tolerated(job: JobShape, node: OracleNode) -> bool:
    """Every taint that keeps pods away has a toleration."""
    return all(
        any(_tolerates(t, taint) for t in job.tolerations)
        for taint in node.taints
        if taint.effect in ("NoSchedule", "NoExecute")
    )


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and toleration.value == taint.value


def matches_needs(role: Role, model: GpuModel | None) -> bool:
    """The node's GPU model will do: by name (equal, or beginning with it and a dash), by vendor, by what it can do."""
    if role.devices.kind == DeviceKind.NONE:
        return True
    if model is None:
        return False
    needs = role.gpu
    if needs.models and not any(named(want, model.name) for want in needs.models):
        return False
    if needs.vendor and needs.vendor != model.vendor:
        return False
    if not needs.models and not needs.vendor and not model.compute_capability:
        return False
    return (
        model.memory >= needs.min_memory
        and model.compute_capability >= needs.min_compute_capability
        and model.memory_bandwidth >= needs.min_memory_bandwidth
        and model.tensor_cores >= needs.min_tensor_cores
        and set(needs.precision) <= set(model.precisions)
    )


def named(want: str, model: str) -> bool:
    """`L4` is not L40S, `H20` is not H200."""
    return model.lower() == want.lower() or model.lower().startswith(want.lower() + "-")


def may_ever_take(job: JobShape, role: Role, node: OracleNode) -> bool:
    """Selector, taints, model, and a domain of each level required: what does not depend on what is free."""
    levels = [job.topology.slice.level] if job.topology.slice else []
    if job.topology.want == Want.REQUIRED and job.topology.level:
        levels.append(job.topology.level)
    if not all(level in node.domains for level in levels):
        return False
    selected = all(node.labels.get(key) == value for key, value in job.selector)
    return selected and tolerated(job, node) and matches_needs(role, node.shape.model)


def fits(job: JobShape, role: Role, node: OracleNode) -> bool:
    """The node can take one worker now."""
    if node.is_closed or not node.is_usable or not may_ever_take(job, role, node):
        return False
    if job.exclusive and (node.workers or node.has_others):
        return False
    return node.cpu >= role.cpu and node.memory >= role.memory and bool(choices(job, role, node))


def node_rank(job: JobShape, role: Role, node: OracleNode, placement: PlacementPolicy) -> tuple[object, ...]:
    """Sort key of the Node rule, best first, among nodes of one model that fit."""
    gpus = choices(job, role, node)[0]
    wants_links = len(gpus) > 1 and role.gpu.nvlink != Want.ANY and role.devices.kind == DeviceKind.WHOLE
    links = -quality(node.shape, gpus) if wants_links else 0
    is_fresh = role.devices.kind == DeviceKind.SHARE and gpus[0] not in node.shared
    tightness = 0 if role.devices.kind != DeviceKind.SHARE or is_fresh else node.shared[gpus[0]]
    away_from_gpus = role.devices.kind == DeviceKind.NONE and bool(node.shape.gpu_count)
    sign = -1 if placement == PlacementPolicy.SPREAD else 1
    return (
        is_fresh,
        tightness,
        away_from_gpus,
        links,
        sign * len(node.free),
        sign * node.cpu,
        node.cpu - role.cpu,
        node.order,
    )
