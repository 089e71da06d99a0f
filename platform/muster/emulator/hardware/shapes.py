"""The table of hardware shapes, and the wiring of a node made from one."""

import functools
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from muster.emulator.registry.errors import Json
from muster.emulator.registry.quantities import in_units

_TABLE = Path(__file__).with_name("shapes.yaml")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: All device identities derive from their node's name, so that a cluster is the same after every start.
_UUIDS = uuid.UUID("5f0c2f0e-6f2a-4f4e-9a53-0a1f6d5b7c11")


@dataclass(frozen=True, slots=True)
class Model:
    """A GPU model, and what GPU Feature Discovery writes about it."""

    name: str
    memory: str  # quantity
    compute: str | None  # compute capability; None for other vendors
    product: str
    family: str
    mib: int
    mig: bool

    @property
    def resource(self) -> str:
        return "nvidia.com/gpu" if self.compute else "amd.com/gpu"


@dataclass(frozen=True, slots=True)
class Shape:
    """The layout of one kind of machine. Group members are GPU indices."""

    name: str
    machine: str
    nvlink: list[list[int]]
    link: str  # class of a link within an nvlink group
    numa: list[list[int]]
    switches: list[list[int]]
    nics: list[list[int | None]]  # [NUMA node, switch] of each
    cpus: int
    memory: str
    model: str | None = None
    single_links: tuple[list[int], ...] = ()
    double_links: tuple[list[int], ...] = ()

    @property
    def gpus(self) -> int:
        return sum(len(group) for group in self.numa)

    def link_class(self, a: int, b: int) -> str:
        """How two GPUs are joined, in the words of `nvidia-smi topo`."""
        if a == b:
            return "X"
        pair = sorted((a, b))
        if pair in self.double_links:
            return "NV2"
        if pair in self.single_links or group_of(self.nvlink, a) == group_of(self.nvlink, b) is not None:
            return self.link
        if group_of(self.switches, a) == group_of(self.switches, b) is not None:
            return "PIX"
        return "NODE" if group_of(self.numa, a) == group_of(self.numa, b) else "SYS"


@functools.cache
def links_of(shape: str) -> list[list[str]]:
    """The matrix of link classes over the GPU indices of a shape."""
    known = shape_named(shape)
    return [[known.link_class(a, b) for b in range(known.gpus)] for a in range(known.gpus)]


def group_of(groups: list[list[int]], member: int) -> int | None:
    return next((at for at, group in enumerate(groups) if member in group), None)


@functools.cache
def _table() -> tuple[dict[str, Shape], dict[str, Model]]:
    raw = yaml.load(_TABLE.read_bytes(), _LOADER)
    shapes = {name: Shape(name=name, **fields) for name, fields in raw["shapes"].items()}
    return shapes, {name: Model(name=name, **fields) for name, fields in raw["models"].items()}


def shape_named(name: str) -> Shape:
    shapes, _ = _table()
    if name not in shapes:
        raise ValueError(f"no hardware shape is named {name!r}; there are: {', '.join(shapes)}")
    return shapes[name]


def all_shapes() -> tuple[str, ...]:
    """The names of the table."""
    return tuple(_table()[0])


def model_of(shape: Shape) -> Model | None:
    return _table()[1][shape.model] if shape.model else None


def gpu_uuid(node: str, index: int) -> str:
    return f"GPU-{uuid.uuid5(_UUIDS, f'{node}/{index}')}"


def topology(shape: Shape, node: str, unhealthy: list[int]) -> Json:
    """The wiring of a node, as the annotation `muster.scheduler/topology` carries it. Memory in bytes."""
    model = model_of(shape)
    gpus = [
        {
            "index": index,
            "uuid": gpu_uuid(node, index),
            "model": model.name,
            "memory": in_units("memory", model.memory),
            "compute_capability": model.compute,
            "numa": group_of(shape.numa, index),
            "switch": group_of(shape.switches, index),
            "healthy": index not in unhealthy,
        }
        for index in range(shape.gpus)
        if model
    ]
    nics = [
        {"index": at, "name": f"mlx5_{at}" if gpus else "eth0", "numa": numa, "switch": switch, "rdma": bool(gpus)}
        for at, (numa, switch) in enumerate(shape.nics)
    ]
    return {
        "shape": shape.name,
        "gpus": gpus,
        "links": links_of(shape.name),
        "nics": nics,
        "cpus": shape.cpus,
        "memory": in_units("memory", shape.memory),
        "numa_nodes": len(shape.numa),
    }
