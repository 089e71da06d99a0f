"""Jobs: the shape that decides where one may go, and the tables of those that wait and those that run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from fractions import Fraction
from functools import cached_property, lru_cache

from scheduler.model.columns import BoolArray, Columns, FloatArray, IntArray, MaskArray, ObjectArray
from scheduler.model.hardware import GpuModel
from scheduler.model.resources import MILLI_PER_GPU


class DeviceKind(IntEnum):
    """How a worker has a GPU, and what a GPU is in use as. Kinds never meet on one GPU."""

    NONE = 0
    WHOLE = 1
    SHARE = 2
    MIG = 3
    SLICE = 4
    """One replica of a time-sliced GPU."""


class Want(StrEnum):
    REQUIRED = "required"
    PREFERRED = "preferred"
    ANY = "any"


class JobKind(StrEnum):
    TRAINING = "training"
    INFERENCE = "inference"
    BATCH = "batch"
    PLACEHOLDER = "placeholder"


@dataclass(frozen=True, slots=True)
class Devices:
    """What one worker asks of GPUs.

    WHOLE: `count` GPUs. SHARE: `milli` of one GPU, or `memory` bytes of one. MIG: one instance of `profile`.
    SLICE: one replica of each of `count` time-sliced GPUs.
    """

    kind: DeviceKind = DeviceKind.NONE
    count: int = 0
    milli: int = 0
    memory: int = 0
    profile: str = ""

    def milli_on(self, model: GpuModel) -> int:
        """Thousandths of one GPU of this model that a SHARE takes; more than 1,000 = too large."""
        return self.milli or milli_of_memory(self.memory, model.memory)


@lru_cache(maxsize=4096)
def milli_of_memory(wanted: int, total: int) -> int:
    """Bytes of a GPU's memory in thousandths: the nearest, so that parts of a GPU add up to it (16 + 32 of 48 GiB), but so
    that a GPU holds as many equal parts as its memory does (three of 16 GiB)."""
    times = total // wanted if wanted else 0
    if not times:
        return MILLI_PER_GPU + 1
    nearest = min(round(Fraction(wanted * MILLI_PER_GPU, total)), MILLI_PER_GPU // times)
    is_too_small = nearest * (times + 1) <= MILLI_PER_GPU
    return -(-wanted * MILLI_PER_GPU // total) if is_too_small else nearest


@dataclass(frozen=True, slots=True)
class GpuNeeds:
    """Which GPU models will do. An empty `models` means any NVIDIA-like GPU with a compute capability, least capable first."""

    models: tuple[str, ...] = ()
    vendor: str = ""
    min_memory: int = 0
    min_compute_capability: int = 0
    """In tenths."""
    min_memory_bandwidth: int = 0
    """GB/s."""
    min_tensor_cores: int = 0
    precision: tuple[str, ...] = ()
    nvlink: Want = Want.PREFERRED


@dataclass(frozen=True, slots=True)
class Locality:
    """Asks that a worker's GPUs share an NVLink group, a PCIe switch or a NUMA node: `link` is one of the link classes."""

    link: str
    want: Want = Want.REQUIRED


@dataclass(frozen=True, slots=True)
class Role:
    """Workers of one kind in a gang. `cpu` in millicores, `memory` in bytes, both per worker."""

    name: str = "worker"
    workers: int = 1
    min_workers: int = 1
    cpu: int = 0
    memory: int = 0
    devices: Devices = Devices()
    gpu: GpuNeeds = GpuNeeds()
    near: str = ""
    apart: str = ""
    image: str = ""


@dataclass(frozen=True, slots=True)
class Slice:
    """Each run of `workers` consecutive ranks stays in one domain of `level`."""

    workers: int
    level: str


@dataclass(frozen=True, slots=True)
class TopologyNeeds:
    """`level` is a level of the cluster, ``nvlink_domain`` or ``host``; empty: as if the innermost were preferred."""

    level: str = ""
    want: Want = Want.PREFERRED
    slice: Slice | None = None


@dataclass(frozen=True, slots=True)
class Toleration:
    """As in Kubernetes: an empty key with ``Exists`` matches every taint, an empty effect every effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


@dataclass(frozen=True)
class JobShape:
    """Everything about a job that decides where it may run; jobs alike share one object.

    A hundred thousand waiting jobs have a few dozen shapes, and all tables of a plan are kept per shape.
    """

    roles: tuple[Role, ...]
    kind: JobKind = JobKind.TRAINING
    topology: TopologyNeeds = TopologyNeeds()
    selector: tuple[tuple[str, str], ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    locality: Locality | None = None
    nic: Want = Want.PREFERRED
    spread: bool = False
    exclusive: bool = False
    preemptible: bool = True

    @cached_property
    def _hash(self) -> int:
        return hash((self.roles, self.kind, self.topology, self.selector, self.tolerations, self.locality, self.nic))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def at_minimum(self) -> JobShape:
        """The shape with no more workers than must start together; itself where it is not elastic."""
        if all(role.min_workers == role.workers for role in self.roles):
            return self
        return replace(self, roles=tuple(replace(role, workers=role.min_workers) for role in self.roles))

    @cached_property
    def ranked_roles(self) -> tuple[int, ...]:
        """Roles whose workers have a rank: those that ask for GPUs, or all of them when none does."""
        with_gpus = tuple(i for i, role in enumerate(self.roles) if role.devices.kind != DeviceKind.NONE)
        return with_gpus or tuple(range(len(self.roles)))


NO_NODES: frozenset[int] = frozenset()


@dataclass(frozen=True)
class WaitingJobs(Columns):
    """Jobs without devices, one row each, by key."""

    key: IntArray
    name: ObjectArray
    queue: IntArray
    """Key of the queue."""
    shape: ObjectArray
    """JobShape; equal shapes should be the same object."""
    priority: IntArray
    submitted: FloatArray
    not_before: FloatArray
    """Back-off; 0 = none."""
    held: BoolArray
    unmet: BoolArray
    """Depends on a job that has not succeeded."""
    incomplete: BoolArray
    """A gang made by others of which pods are missing."""
    walltime: FloatArray
    """Seconds; infinity = none given."""
    avoid: ObjectArray
    """frozenset of node keys that its last attempt failed on."""


class RunState(IntEnum):
    RUNNING = 0
    STOPPING = 1
    NOMINATED = 2
    """Devices are kept for it until others have gone."""


@dataclass(frozen=True)
class RunningJobs(Columns):
    """Jobs that have devices, one row each, by key."""

    key: IntArray
    name: ObjectArray
    queue: IntArray
    shape: ObjectArray
    priority: IntArray
    submitted: FloatArray
    started: FloatArray
    walltime: FloatArray
    min_runtime: FloatArray
    saved: FloatArray
    """Time of the latest checkpoint; = started where there is none."""
    protected_until: FloatArray
    state: IntArray
    """RunState."""


@dataclass(frozen=True)
class Workers(Columns):
    """Workers of the running jobs with their devices, one row each, by key."""

    key: IntArray
    job: IntArray
    """Key of the job."""
    role: IntArray
    """Position in the shape's roles."""
    index: IntArray
    node: IntArray
    """Key of the node."""
    gpus: MaskArray
    mig_start: IntArray
    """First memory slice of a MIG instance; -1 = none."""
    nic: IntArray
    """Index of its NIC in the node's shape; -1 = none."""
