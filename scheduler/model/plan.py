"""The answer of one call of plan(): what to start, in order, and why everybody else waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler.model.columns import IntArray
from scheduler.model.hardware import gpus_of
from scheduler.model.jobs import DeviceKind
from scheduler.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The slowest border that a ring over the gang's ranks crosses. `gigabytes` per second and GPU."""

    level: str
    gigabytes: float
    source: str
    """``nominal`` or ``measured``: the first is never shown as the second."""


@dataclass(frozen=True, slots=True)
class WorkerPlacement:
    """One worker on one node. Workers of a role are numbered in rank order."""

    role: str
    index: int
    rank: int
    """-1 for a role without ranks."""
    node: int
    """Key of the node."""
    kind: DeviceKind
    gpus: int = 0
    """Mask of the GPUs it has (or has a part of)."""
    milli: int = 0
    """Thousandths of the one GPU, for SHARE."""
    profile: str = ""
    mig_start: int = -1
    nic: int = -1
    """Index in the node's shape; -1 = none named."""
    quality: int = 100
    """Link quality: 100 NVLink, 85 one PCIe switch, 75 one NUMA node, 60 across."""

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"

    @property
    def gpu_indices(self) -> tuple[int, ...]:
        return gpus_of(self.gpus)


@dataclass(frozen=True, slots=True)
class Stop:
    """Workers that end so that others may run: all of a job (`workers` empty) or some."""

    job: int
    cause: str
    workers: tuple[int, ...] = ()
    """Keys of the workers."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a worker has less than it preferred: no free set of `gpus` joined by `wanted` on any of `nodes` nodes.

    Without a role: the `gpus` workers are spread over `nodes` domains of the level `wanted`, for no single one had room.
    """

    role: str
    wanted: str
    gpus: int
    nodes: int
    quality: int


@dataclass(frozen=True, slots=True)
class Unit:
    """One gang that starts, with everybody who ends or moves for it. Committed whole or dropped whole."""

    job: int
    """Key of the job."""
    workers: tuple[WorkerPlacement, ...]
    replica: int = 0
    stops: tuple[Stop, ...] = ()
    is_growth: bool = False
    """More workers for a job that runs already."""
    nominated: bool = False
    """Its devices are free only once the stops are done."""
    bottleneck: Bottleneck | None = None
    shortfalls: tuple[Shortfall, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Units in the order in which they were decided; a later one may rest on an earlier one.

    `verdicts` maps (shape number, queue key) groups to jobs: job `waiting.key[i]` has `verdicts[verdict_of[i]]`, or starts (-1).
    """

    units: tuple[Unit, ...]
    verdicts: tuple[Verdict, ...]
    verdict_of: IntArray
    """[waiting jobs] index into `verdicts`, -1 for those that start."""
    fair_share: Mapping[int, float] = field(default_factory=dict)
    """GPUs per queue key, as the division gives them."""
    starts: Mapping[int, float] = field(default_factory=dict)
    """Reserved start per job key."""

    @property
    def is_settled(self) -> bool:
        return not self.units
