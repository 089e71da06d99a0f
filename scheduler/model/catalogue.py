"""GPU models and the named hardware shapes of the scenario format, as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scheduler.model.hardware import GpuModel, Nic, NodeShape, joined_groups
from scheduler.model.resources import MILLI_PER_CORE

_GI, _TI = 2**30, 2**40
_VOLTA = ("fp16", "fp32", "fp64")
_TURING = ("fp16", "fp32", "int8")
_AMPERE = ("bf16", "fp16", "fp32", "fp64", "int8", "tf32")
_ADA = (*_AMPERE, "fp8")
_BLACKWELL = (*_ADA, "fp4")

GPU_MODELS: dict[str, GpuModel] = {
    model.name: model
    for model in (
        # name, memory, compute capability in tenths, vendor, GB/s, tensor cores, precisions
        GpuModel("K80-12GB", 12 * _GI, 37, "nvidia", 240, 0, ("fp32", "fp64")),
        GpuModel("P100-16GB", 16 * _GI, 60, "nvidia", 732, 0, ("fp16", "fp32", "fp64")),
        GpuModel("V100-16GB", 16 * _GI, 70, "nvidia", 900, 1, _VOLTA),
        GpuModel("V100-32GB", 32 * _GI, 70, "nvidia", 900, 1, _VOLTA),
        GpuModel("T4-16GB", 16 * _GI, 75, "nvidia", 320, 2, _TURING),
        GpuModel("A30-24GB", 24 * _GI, 80, "nvidia", 933, 3, _AMPERE),
        GpuModel("A100-40GB", 40 * _GI, 80, "nvidia", 1555, 3, _AMPERE),
        GpuModel("A100-80GB", 80 * _GI, 80, "nvidia", 2039, 3, _AMPERE),
        GpuModel("A100-PCIE-40GB", 40 * _GI, 80, "nvidia", 1555, 3, _AMPERE),
        GpuModel("A100-PCIE-80GB", 80 * _GI, 80, "nvidia", 1935, 3, _AMPERE),
        GpuModel("A800-80GB", 80 * _GI, 80, "nvidia", 2039, 3, _AMPERE),
        GpuModel("A10-24GB", 24 * _GI, 86, "nvidia", 600, 3, _AMPERE),
        GpuModel("A10G-24GB", 24 * _GI, 86, "nvidia", 600, 3, _AMPERE),
        GpuModel("A40-48GB", 48 * _GI, 86, "nvidia", 696, 3, _AMPERE),
        GpuModel("L4-24GB", 24 * _GI, 89, "nvidia", 300, 4, _ADA),
        GpuModel("L40S-48GB", 48 * _GI, 89, "nvidia", 864, 4, _ADA),
        GpuModel("RTX4090-24GB", 24 * _GI, 89, "nvidia", 1008, 4, _ADA),
        GpuModel("H20-96GB", 96 * _GI, 90, "nvidia", 4000, 4, _ADA),
        GpuModel("H100-80GB", 80 * _GI, 90, "nvidia", 3350, 4, _ADA),
        GpuModel("H100-PCIE-80GB", 80 * _GI, 90, "nvidia", 2000, 4, _ADA),
        GpuModel("H100-NVL-94GB", 94 * _GI, 90, "nvidia", 3938, 4, _ADA),
        GpuModel("H800-80GB", 80 * _GI, 90, "nvidia", 3350, 4, _ADA),
        GpuModel("H200-141GB", 141 * _GI, 90, "nvidia", 4800, 4, _ADA),
        GpuModel("B200-180GB", 180 * _GI, 100, "nvidia", 8000, 5, _BLACKWELL),
        GpuModel("GB200-192GB", 192 * _GI, 100, "nvidia", 8000, 5, _BLACKWELL),
        GpuModel("MI300X-192GB", 192 * _GI, 0, "amd", 5300, 0, ("bf16", "fp16", "fp32", "fp64", "fp8", "int8", "tf32")),
        GpuModel("Ascend-910B-64GB", 64 * _GI, 0, "ascend", 1600, 0, ("bf16", "fp16", "fp32", "int8")),
        GpuModel("Gaudi2-96GB", 96 * _GI, 0, "intel", 2450, 0, ("bf16", "fp16", "fp32", "fp8")),
    )
}

_HALVES = (0, 0, 0, 0, 1, 1, 1, 1)
_PAIRS = (0, 0, 1, 1, 2, 2, 3, 3)
_EACH = (0, 1, 2, 3, 4, 5, 6, 7)
_ALL = (range(8),)
_CUBE_MESH = {
    (0, 1): 1, (0, 2): 1, (0, 3): 2, (0, 4): 2, (1, 2): 2, (1, 3): 1, (1, 5): 2, (2, 3): 2,
    (2, 6): 1, (3, 7): 1, (4, 5): 1, (4, 6): 1, (4, 7): 2, (5, 6): 2, (5, 7): 1, (6, 7): 2,
}  # fmt: skip


class _Wiring(NamedTuple):
    model: GpuModel | None
    links: tuple[tuple[int, ...], ...]
    numa: tuple[int, ...]
    switch: tuple[int, ...]


def _wired(model: str, groups: Sequence[Sequence[int]], switch: Sequence[int], numa: Sequence[int]) -> _Wiring:
    return _Wiring(GPU_MODELS[model], joined_groups(len(numa), groups), tuple(numa), tuple(switch))


def _beside_each(wiring: _Wiring) -> tuple[Nic, ...]:
    """One NIC on the switch of each GPU."""
    return tuple(Nic(numa, switch) for numa, switch in zip(wiring.numa, wiring.switch, strict=True))


def _shape(name: str, wiring: _Wiring, nics: Sequence[Nic], *, cores: int, memory: int) -> NodeShape:
    return NodeShape(name, *wiring, nics=tuple(nics), cpu=cores * MILLI_PER_CORE, memory=memory)


def _cube_mesh() -> _Wiring:
    links = {(a, b): n for (i, j), n in _CUBE_MESH.items() for a, b in ((i, j), (j, i))}
    matrix = tuple(tuple(links.get((i, j), 0) for j in range(8)) for i in range(8))
    return _Wiring(GPU_MODELS["V100-32GB"], matrix, numa=_HALVES, switch=_PAIRS)


def _catalogue() -> tuple[NodeShape, ...]:
    h100, h200 = (_wired(model, _ALL, _PAIRS, _HALVES) for model in ("H100-80GB", "H200-141GB"))
    a100 = _wired("A100-80GB", _ALL, _PAIRS, _PAIRS)
    bridged = _wired("A100-PCIE-80GB", ((0, 1), (2, 3), (4, 5), (6, 7)), _HALVES, _HALVES)
    islands = _wired("A100-80GB", (range(4), range(4, 8)), _HALVES, _HALVES)
    l40s, small = _wired("L40S-48GB", (), _HALVES, _HALVES), _wired("L40S-48GB", (), (0, 0, 1, 1), (0, 0, 1, 1))
    rtx, mi300 = _wired("RTX4090-24GB", (), _EACH, _HALVES), _wired("MI300X-192GB", _ALL, _EACH, _HALVES)
    gb200, none = _wired("GB200-192GB", (range(4),), range(4), (0, 0, 1, 1)), _Wiring(None, (), (), ())
    per_numa, numa0, per_switch = (Nic(0, 0), Nic(1, 1)), (Nic(0),), (Nic(0, 0), Nic(0, 1), Nic(1, 2), Nic(1, 3))
    return (
        _shape("dgx-h100", h100, _beside_each(h100), cores=112, memory=2 * _TI),
        _shape("dgx-h200", h200, _beside_each(h200), cores=112, memory=2 * _TI),
        _shape("dgx-a100", a100, _beside_each(a100), cores=128, memory=2 * _TI),
        _shape("a100-pcie-bridged", bridged, per_numa, cores=128, memory=_TI),
        _shape("a100-two-islands", islands, per_numa, cores=128, memory=_TI),
        _shape("dgx1-v100", _cube_mesh(), per_switch, cores=80, memory=_TI // 2),
        _shape("l40s-pcie8", l40s, per_numa, cores=128, memory=_TI),
        _shape("l40s-pcie4", small, numa0, cores=64, memory=_TI // 2),
        _shape("rtx4090-8", rtx, numa0, cores=64, memory=_TI // 2),
        _shape("gb200-tray", gb200, _beside_each(gb200), cores=144, memory=960 * _GI),
        _shape("mi300x-8", mi300, _beside_each(mi300), cores=192, memory=2 * _TI),
        _shape("cpu-only", none, numa0, cores=64, memory=256 * _GI),
    )


SHAPES: dict[str, NodeShape] = {shape.name: shape for shape in _catalogue()}
"""Every shape that a scenario may name."""
