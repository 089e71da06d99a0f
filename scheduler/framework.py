"""Extension points as protocols. Every plugin sees all nodes at once, as arrays, and a whole gang, never a pod at a time.

A plugin is one small file with a frozen dataclass whose fields are its arguments, and one line in `registry.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from scheduler.model.columns import FloatArray, IntArray
from scheduler.model.hardware import LINK_NVLINK, GpuModel
from scheduler.model.jobs import NO_NODES, DeviceKind, JobShape, Role, Want
from scheduler.model.plan import Unit, WorkerPlacement
from scheduler.model.tables import DeviceNeed
from scheduler.model.verdict import Cause, Verdict
from scheduler.score.bands import Band

if TYPE_CHECKING:
    from scheduler.world import World

Rows = IntArray | slice
"""Node rows to look at: indices, or a slice for all of them (`array[rows]` then copies nothing)."""

UNLIMITED = 1 << 30
"""Room where a filter sets no bound."""


@dataclass(frozen=True)
class Ask:
    """What one role of a gang asks of nodes with one GPU model (None: no GPUs asked for). Tables are kept per ask."""

    shape: JobShape
    position: int
    """Of the role in the shape."""
    model: GpuModel | None
    avoid: frozenset[int] = NO_NODES
    """Keys of nodes that the last attempt failed on."""

    @property
    def role(self) -> Role:
        return self.shape.roles[self.position]

    @cached_property
    def need(self) -> DeviceNeed:
        """What the device tables are asked for one worker; parts of a GPU ask as a one-GPU worker does."""
        shape, role = self.shape, self.role
        required, preferred = set(), ""
        if role.gpu.nvlink == Want.REQUIRED:
            required.add(LINK_NVLINK)
        if shape.locality is not None and shape.locality.want == Want.REQUIRED:
            required.add(shape.locality.link)
        elif shape.locality is not None:
            preferred = shape.locality.link
        count = role.devices.count if role.devices.kind == DeviceKind.WHOLE else 1
        return DeviceNeed(count, frozenset(required), preferred, shape.nic == Want.REQUIRED)


@dataclass(frozen=True)
class Candidate:
    """A waiting job whose turn it is."""

    row: int
    """In `snapshot.waiting`."""
    key: int
    shape: JobShape
    queue: int
    """Key of its queue."""
    avoid: frozenset[int] = NO_NODES


@dataclass(frozen=True)
class Gang:
    """A gang that has a place for every worker."""

    candidate: Candidate
    models: tuple[GpuModel | None, ...]
    """Per role of the shape."""
    workers: tuple[WorkerPlacement, ...]


class JobStream(Protocol):
    """One cycle's queue: gives the next job to try and hears what became of it."""

    def next(self) -> int | None:
        """Row of the next waiting job; None when nobody is left."""
        ...

    def placed(self, row: int) -> None: ...

    def refused(self, row: int, verdict: Verdict) -> None: ...


class QueueSort(Protocol):
    """Order of queues, then of jobs in a queue."""

    def open(self, world: World) -> JobStream: ...


class PreFilter(Protocol):
    """What can be known without looking at nodes: hold, dependency, back-off, quota."""

    def pre_filter(self, world: World, candidate: Candidate) -> Verdict | None: ...


class Filter(Protocol):
    """How many workers of a role each node could take, as far as this plugin can tell: 0 = none, UNLIMITED = any number."""

    @property
    def cause(self) -> Cause: ...

    @property
    def fixed(self) -> bool:
        """Depends on nodes alone, not on what is in use: asked once and kept."""
        ...

    def applies(self, ask: Ask) -> bool: ...

    def room(self, world: World, ask: Ask, rows: Rows) -> IntArray: ...


class PostFilter(Protocol):
    """Tried when a gang found no place: make one, or leave things as they are (None)."""

    def post_filter(self, world: World, candidate: Candidate, verdict: Verdict) -> Sequence[Unit] | None: ...


class PreScore(Protocol):
    """Prepares once per ask what a score plugin needs; kept in `world.prepared[name, ask]`."""

    def pre_score(self, world: World, ask: Ask) -> Any: ...


class Score(Protocol):
    """0..100 per node, higher is better. Must depend on the node alone, so that only touched nodes are scored again."""

    @property
    def band(self) -> Band: ...

    @property
    def per_count(self) -> bool:
        """Whether the score changes with the number of workers that go to the node together."""
        ...

    def applies(self, ask: Ask) -> bool: ...

    def score(self, world: World, ask: Ask, rows: Rows, workers: int) -> FloatArray: ...


class NormalizeScore(Protocol):
    """A score plugin may bring its raw figures to 0..100 here; without it they are cut off at both ends."""

    def normalize(self, raw: FloatArray) -> FloatArray: ...


class Reserve(Protocol):
    """Books something for the whole gang; `unreserve` takes it back whole."""

    def reserve(self, world: World, gang: Gang) -> Gang | Verdict:
        """The gang, perhaps with more decided about it, or why it cannot be."""
        ...

    def unreserve(self, world: World, gang: Gang) -> None: ...


class Permit(Protocol):
    """The last word before a gang counts as placed."""

    def permit(self, world: World, gang: Gang) -> Verdict | None: ...


class PreBind(Protocol):
    """Executor: prepares what the pods of a placement need before they are bound. Implemented in `kube/executor/plugins/`."""

    def pre_bind(self, placement: Any) -> None: ...


class Bind(Protocol):
    """Executor: binds the pods of a placement to their nodes."""

    def bind(self, placement: Any) -> None: ...


class PostBind(Protocol):
    """Executor: hears that every pod of a placement is bound."""

    def post_bind(self, placement: Any) -> None: ...
