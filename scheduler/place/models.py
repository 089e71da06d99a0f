"""Which GPU models serve a role, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.model.hardware import GpuModel
from scheduler.model.instances import instance_of
from scheduler.model.jobs import DeviceKind, GpuNeeds, Role


def is_named(model: GpuModel, wanted: str) -> bool:
    """A name matches a model that equals it or begins with it followed by ``-``, case ignored: `L4` is not L40S."""
    name, wanted = model.name.lower(), wanted.lower()
    return name == wanted or name.startswith(f"{wanted}-")


def serving_models(role: Role, models: Sequence[GpuModel]) -> list[GpuModel]:
    """Models in the order named, or least capable first where none is named. Empty: the cluster has none that serves."""
    able = sorted((m for m in models if has_features(m, role.gpu) and _divides(m, role)), key=lambda m: m.capability)
    if role.gpu.models:
        return list(dict.fromkeys(m for wanted in role.gpu.models for m in able if is_named(m, wanted)))
    if role.gpu.vendor:
        return able
    return [m for m in able if m.compute_capability]


def has_features(model: GpuModel, needs: GpuNeeds) -> bool:
    """Whether a model has what is asked for by feature."""
    return (
        model.memory >= needs.min_memory
        and model.compute_capability >= needs.min_compute_capability
        and model.memory_bandwidth >= needs.min_memory_bandwidth
        and model.tensor_cores >= needs.min_tensor_cores
        and set(needs.precision) <= set(model.precisions)
        and (not needs.vendor or model.vendor == needs.vendor.lower())
    )


def _divides(model: GpuModel, role: Role) -> bool:
    """Whether one GPU of the model can be cut as small a part as asked for."""
    if role.devices.kind == DeviceKind.MIG:
        return instance_of(model.name, role.devices.profile) is not None
    return role.devices.kind != DeviceKind.SHARE or role.devices.milli_on(model) <= 1_000
