"""GPU models and node shapes: what a node is made of, and how it is wired inside.

A shape is immutable and compares by its wiring, so that every node wired alike shares one object and with it one set of
device tables (`tables.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from scheduler.model.resources import MAX_GPUS

LINK_NVLINK, LINK_SWITCH, LINK_NUMA, LINK_ACROSS = "nvlink", "switch", "numa", "across"


@dataclass(frozen=True, slots=True)
class GpuModel:
    """One flavor of GPU. `compute_capability` is in tenths (90 = 9.0), 0 where the vendor has none."""

    name: str
    memory: int
    compute_capability: int = 0
    vendor: str = "nvidia"
    memory_bandwidth: int = 0
    """GB/s."""
    tensor_cores: int = 0
    """Generation; 0 = none."""
    precisions: tuple[str, ...] = ()

    @property
    def capability(self) -> tuple[int, int]:
        """Sort key, least capable first: compute capability, then memory. Equals stay in order of registration."""
        return self.compute_capability, self.memory


@dataclass(frozen=True, slots=True)
class Nic:
    """A network card. `switch` is a PCIe switch number of the node, -1 = on none of them."""

    numa: int
    switch: int = -1
    rdma: bool = True
    exclusive: bool = False


@dataclass(frozen=True)
class NodeShape:
    """Hardware layout of a node. GPUs are numbered as `nvidia-smi` numbers them.

    `links[i][j]` is the number of NVLink connections between GPU i and j (0 = none; symmetric, diagonal 0).
    """

    name: str = field(compare=False)
    model: GpuModel | None
    links: tuple[tuple[int, ...], ...]
    numa: tuple[int, ...]
    switch: tuple[int, ...]
    nics: tuple[Nic, ...] = ()
    cpu: int = field(default=0, compare=False)
    """Millicores such a node usually has; a node's own figure is in its column."""
    memory: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        count = len(self.links)
        if count > MAX_GPUS:
            raise ValueError(f"shape {self.name}: {count} GPUs, at most {MAX_GPUS} are supported")
        if {len(row) for row in self.links} - {count} or len(self.numa) != count or len(self.switch) != count:
            raise ValueError(f"shape {self.name}: links, numa and switch must name the same GPUs")
        if (self.model is None) != (count == 0):
            raise ValueError(f"shape {self.name}: a shape has a GPU model exactly when it has GPUs")

    @cached_property
    def _hash(self) -> int:
        return hash((self.model, self.links, self.numa, self.switch, self.nics))

    def __hash__(self) -> int:
        return self._hash

    @property
    def gpu_count(self) -> int:
        return len(self.links)

    @property
    def all_gpus(self) -> int:
        """Mask of every GPU."""
        return (1 << self.gpu_count) - 1

    @cached_property
    def nvlink_groups(self) -> tuple[int, ...]:
        """Masks of the largest sets whose members are all joined by NVLink directly (maximal cliques, two GPUs or more)."""
        peers = [sum(1 << j for j, links in enumerate(row) if links) for row in self.links]
        return tuple(sorted(_maximal_cliques(peers, 0, self.all_gpus, 0)))

    @cached_property
    def numa_groups(self) -> tuple[int, ...]:
        return _groups(self.numa)

    @cached_property
    def switch_groups(self) -> tuple[int, ...]:
        return _groups(self.switch)

    @cached_property
    def nic_reach(self) -> int:
        """Mask of the GPUs that have a NIC on their PCIe switch or in their NUMA node."""
        numas, switches = {nic.numa for nic in self.nics}, {nic.switch for nic in self.nics} - {-1}
        return sum(1 << i for i in range(self.gpu_count) if self.numa[i] in numas or self.switch[i] in switches)


def _groups(of: Sequence[int]) -> tuple[int, ...]:
    return tuple(sum(1 << i for i, value in enumerate(of) if value == group) for group in dict.fromkeys(of))


def _maximal_cliques(peers: Sequence[int], chosen: int, candidates: int, excluded: int) -> list[int]:
    """Bron-Kerbosch with a pivot, over bit masks: sixteen GPUs at most, run once per shape."""
    if not candidates:
        return [chosen] if not excluded and chosen.bit_count() > 1 else []
    pivot = max(_bits(candidates | excluded), key=lambda gpu: (candidates & peers[gpu]).bit_count())
    found = []
    for gpu in _bits(candidates & ~peers[pivot]):
        found += _maximal_cliques(peers, chosen | 1 << gpu, candidates & peers[gpu], excluded & peers[gpu])
        candidates &= ~(1 << gpu)
        excluded |= 1 << gpu
    return found


def _bits(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def gpus_of(mask: int) -> tuple[int, ...]:
    """Indices of the GPUs in a mask, ascending."""
    return tuple(_bits(mask))


def mask_of(gpus: Sequence[int]) -> int:
    """Mask of the GPUs with these indices."""
    mask = 0
    for gpu in gpus:
        mask |= 1 << gpu
    return mask


def joined_groups(count: int, groups: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """NVLink matrix in which the members of each group are joined to each other."""
    pairs = {pair for group in groups for a, b in combinations(group, 2) for pair in ((a, b), (b, a))}
    return tuple(tuple(int((i, j) in pairs) for j in range(count)) for i in range(count))


def discovered(
    model: GpuModel | None,
    *,
    links: Sequence[Sequence[str]] = (),
    numa: Sequence[int] = (),
    switch: Sequence[int] | None = None,
    nics: Sequence[Nic] = (),
) -> NodeShape:
    """A shape from evidence found on a node.

    `links` is the matrix as `nvidia-smi topo -m` prints it (``X``, ``NV12``, ``PIX``, ``PXB``, ``PHB``, ``NODE``, ``SYS``).
    Without `switch`, GPUs joined by PIX or PXB are taken to share a PCIe switch.
    """
    count = len(links)
    nvlinks = tuple(tuple(_nvlink_count(cell) for cell in row) for row in links)
    nodes = tuple(numa) if numa else (0,) * count
    switches = tuple(switch) if switch is not None else _switches_from(links)
    return NodeShape("discovered", model if count else None, nvlinks, nodes, switches, tuple(nics))


def _nvlink_count(cell: str) -> int:
    return int(cell[2:]) if cell.startswith("NV") else 0


def _switches_from(links: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """Number the PCIe switches: a GPU belongs with the first lower one it reaches without leaving the switch."""
    switches: list[int] = []
    for gpu, row in enumerate(links):
        near = next((other for other in range(gpu) if row[other] in {"PIX", "PXB"}), None)
        switches.append(switches[near] if near is not None else max(switches, default=-1) + 1)
    return tuple(switches)
