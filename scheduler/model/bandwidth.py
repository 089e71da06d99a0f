"""How fast a placement's GPUs can talk: the slowest border that a ring over them crosses.

Figures are GB/s of a ring all-reduce as each GPU sees it. They come from two presets, which an administrator may edit:
`NOMINAL` from data sheets, `MEASURED` where somebody published a measurement. Every figure carries its own source, so that
a nominal one is never shown as measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scheduler.model.columns import FloatArray, IntArray, MaskArray
from scheduler.model.hardware import LINK_ACROSS, LINK_NUMA, LINK_NVLINK, LINK_SWITCH, GpuModel, NodeShape, gpus_of
from scheduler.model.nodes import HOST, NVLINK_DOMAIN, Layout
from scheduler.model.plan import Bottleneck

IS_NOMINAL, IS_MEASURED = "nominal", "measured"


@dataclass(frozen=True, slots=True)
class Figure:
    """One bandwidth. `basis` says where it is from."""

    gigabytes: float
    source: str = IS_NOMINAL
    basis: str = "vendor data sheets"


@dataclass(frozen=True, slots=True)
class NvlinkRate:
    """What one GPU model can move over NVLink (AMD: Infinity Fabric) with all its `links`."""

    model: str
    links: int
    figure: Figure


@dataclass(frozen=True, slots=True)
class Bandwidths:
    """A figure for every link class inside a node, and per node for every border outside it."""

    nvlink: tuple[NvlinkRate, ...]
    switch: Figure
    numa: Figure
    across: Figure
    near: Figure
    """Per node, between nodes of one innermost domain."""
    beyond: Figure
    """Per node, across any wider border."""

    def nvlink_of(self, model: GpuModel | None) -> NvlinkRate:
        """The model's rate; the last row stands for models without one."""
        name = model.name if model else ""
        return next((rate for rate in self.nvlink if rate.model == name), self.nvlink[-1])


_NVLINK = (
    NvlinkRate("V100-16GB", 6, Figure(300)),
    NvlinkRate("V100-32GB", 6, Figure(300)),
    NvlinkRate("A100-40GB", 12, Figure(600)),
    NvlinkRate("A100-80GB", 12, Figure(600)),
    NvlinkRate("A100-PCIE-40GB", 12, Figure(600)),
    NvlinkRate("A100-PCIE-80GB", 12, Figure(600)),
    NvlinkRate("A800-80GB", 8, Figure(400)),
    NvlinkRate("H800-80GB", 8, Figure(400)),
    NvlinkRate("H100-NVL-94GB", 12, Figure(600)),
    NvlinkRate("B200-180GB", 18, Figure(1800)),
    NvlinkRate("GB200-192GB", 18, Figure(1800)),
    NvlinkRate("MI300X-192GB", 7, Figure(896)),
    NvlinkRate("", 18, Figure(900)),
)
NOMINAL = Bandwidths(
    nvlink=_NVLINK,
    switch=Figure(64, basis="PCIe 5 x16, each direction"),
    numa=Figure(32, basis="half of a PCIe switch"),
    across=Figure(32, basis="half of a PCIe switch"),
    near=Figure(400, basis="eight NICs of 400 Gb/s"),
    beyond=Figure(50, basis="one NIC of 400 Gb/s"),
)


def _measured(gigabytes: float, basis: str) -> Figure:
    return Figure(gigabytes, IS_MEASURED, basis)


_H100 = _measured(476.85, "8 x H100 in one node, nccl-tests, 8 GiB")
_A100 = _measured(232.5, "8 x A100 in one node, NVIDIA/nccl-tests issue 175")
MEASURED = Bandwidths(
    nvlink=(
        NvlinkRate("H100-80GB", 18, _H100),
        NvlinkRate("A100-40GB", 12, _A100),
        NvlinkRate("A100-80GB", 12, _A100),
        NvlinkRate("H800-80GB", 8, _measured(215, "8 x H800 in one node, NVIDIA/nccl issue 1374")),
        *_NVLINK,
    ),
    switch=_measured(36.6, "4 x A40 on one socket, NVIDIA/nccl-tests issue 74"),
    numa=_measured(24, "4 GPUs in one NUMA node without peer access, NVIDIA/nccl issue 1130"),
    across=_measured(24, "4 GPUs in one NUMA node without peer access, NVIDIA/nccl issue 1130"),
    near=_measured(437.58, "16 x H100 in two nodes, eight InfiniBand NICs each, nccl-tests, 8 GiB"),
    beyond=NOMINAL.beyond,
)
PRESETS = {IS_NOMINAL: NOMINAL, IS_MEASURED: MEASURED}


@lru_cache(maxsize=4096)
def ring_within(shape: NodeShape, gpus: int, speeds: Bandwidths = NOMINAL) -> Bottleneck | None:
    """The slowest link of the best ring over the GPUs of a mask on one node; None for fewer than two."""
    members = gpus_of(gpus)
    if len(members) < 2:
        return None
    found = {pair: _between(shape, *pair, speeds) for pair in _pairs(members)}
    for slowest in sorted(set(found.values()), key=lambda link: -link.gigabytes):
        joined = {pair for pair, link in found.items() if link.gigabytes >= slowest.gigabytes}
        if _has_ring(members, joined):
            return slowest
    raise AssertionError("every set of GPUs has a ring over its slowest links")


def bottleneck(layout: Layout, rows: IntArray, gpus: MaskArray, speeds: Bandwidths = NOMINAL) -> Bottleneck | None:
    """The slowest border on a ring over workers, of equally slow ones the widest; None for fewer than two GPUs in all.

    `rows`: [W] node rows in rank order. `gpus`: [W] masks of the workers' GPUs; workers without any are no part of the ring.
    """
    takes_part = gpus > 0
    rows, gpus = rows[takes_part], gpus[takes_part]
    if not len(rows):
        return None
    order = np.argsort(rows, kind="stable")
    nodes, first = np.unique(rows[order], return_index=True)
    masks = np.bitwise_or.reduceat(gpus[order], first)
    sets = np.unique(np.stack((layout.shape_of[nodes], masks.astype(np.int64)), axis=1), axis=0)
    borders: list[Bottleneck | None] = []
    if len(nodes) > 1:
        share = np.bitwise_count(masks) / layout.gpu_count[nodes]
        borders.append(_outside(layout, np.searchsorted(nodes, rows), nodes, share=share, speeds=speeds))
    borders += [ring_within(layout.shapes[shape], mask, speeds) for shape, mask in sets.tolist()]
    return min((border for border in borders if border), key=lambda border: border.gigabytes, default=None)


def _outside(layout: Layout, ring: IntArray, nodes: IntArray, *, share: FloatArray, speeds: Bandwidths) -> Bottleneck:
    """The slowest border between nodes, named by the level whose domains it parts.

    `ring`: [W] positions in `nodes`. `share`: the part of each node's GPUs, and so of its network, that the gang has.
    """
    after = np.roll(ring, -1)
    a, b = ring[ring != after], after[ring != after]
    domains, wider = layout.domain_of[:, nodes], len(layout.levels) - 2
    parted = (domains[:wider, a] != domains[:wider, b]) | (domains[:wider, a] < 0)
    inside = layout.levels.index(NVLINK_DOMAIN)
    joined = (domains[inside, a] == domains[inside, b]) & (domains[inside, a] >= 0)
    is_far = parted.any(axis=0) if wider else np.ones(len(a), dtype=np.bool_)
    part = np.minimum(share[a], share[b])
    speed = np.where(is_far, speeds.beyond.gigabytes, speeds.near.gigabytes) * part
    fabric = speeds.nvlink_of(layout.shapes[layout.shape_of[nodes[0]]].model).figure
    speed = np.where(joined, fabric.gigabytes, speed)
    widest = np.where(parted.any(axis=0) & ~joined, parted.argmax(axis=0), wider) if wider else np.zeros(len(a))
    worst = int(np.lexsort((widest, speed))[0])
    if joined[worst]:
        return Bottleneck(HOST, fabric.gigabytes, fabric.source)
    level = layout.levels[int(widest[worst])] if wider and is_far[worst] else HOST
    figure = speeds.beyond if is_far[worst] else speeds.near
    return Bottleneck(level, float(speed[worst]), figure.source)


def _between(shape: NodeShape, a: int, b: int, speeds: Bandwidths) -> Bottleneck:
    """Speed of the direct way between two GPUs of a node."""
    if shape.links[a][b]:
        rate = speeds.nvlink_of(shape.model)
        part = min(shape.links[a][b] / rate.links, 1.0) if _tells_widths(shape) else 1.0
        return Bottleneck(LINK_NVLINK, rate.figure.gigabytes * part, rate.figure.source)
    if shape.switch[a] == shape.switch[b]:
        return Bottleneck(LINK_SWITCH, speeds.switch.gigabytes, speeds.switch.source)
    if shape.numa[a] == shape.numa[b]:
        return Bottleneck(LINK_NUMA, speeds.numa.gigabytes, speeds.numa.source)
    return Bottleneck(LINK_ACROSS, speeds.across.gigabytes, speeds.across.source)


def _tells_widths(shape: NodeShape) -> bool:
    """Whether the matrix counts links. One that only says who is joined to whom has ones."""
    return max(max(row) for row in shape.links) > 1


def _pairs(members: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(a, b) for at, a in enumerate(members) for b in members[at + 1 :]]


def _has_ring(members: tuple[int, ...], joined: set[tuple[int, int]]) -> bool:
    """Whether the GPUs form a ring over these links: ends of paths from the first GPU, set by set of GPUs visited."""
    count = len(members)
    if count * (count - 1) // 2 == len(joined):
        return True
    place = {gpu: at for at, gpu in enumerate(members)}
    peers = [0] * count
    for a, b in joined:
        peers[place[a]] |= 1 << place[b]
        peers[place[b]] |= 1 << place[a]
    ends = [0] * (1 << count)
    ends[1] = 1
    for visited in range(1, 1 << count, 2):
        for end in gpus_of(ends[visited]):
            for following in gpus_of(peers[end] & ~visited):
                ends[visited | 1 << following] |= 1 << following
    return bool(ends[-1] & peers[0])
