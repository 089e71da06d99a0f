"""Why a job waits: a typed reason with its facts. Sentences are made elsewhere (`scheduler/messages.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """In order of precedence: where several are true, the first is given."""

    HELD = "Held"
    DEPENDENCY = "Dependency"
    WAITING_FOR_MEMBERS = "WaitingForMembers"
    NO_MATCHING_NODES = "NoMatchingNodes"
    EXCEEDS_CLUSTER = "ExceedsCluster"
    BACKOFF = "Backoff"
    QUOTA_EXCEEDED = "QuotaExceeded"
    GUARANTEE_EXCEEDED = "GuaranteeExceeded"
    BORROW_LIMIT = "BorrowLimit"
    BEHIND_HEAD = "BehindHead"
    INSUFFICIENT_GPUS = "InsufficientGPUs"
    INSUFFICIENT_CPU = "InsufficientCPU"
    INSUFFICIENT_MEMORY = "InsufficientMemory"
    FRAGMENTED = "Fragmented"
    TOPOLOGY_UNSATISFIED = "TopologyUnsatisfied"
    BEHIND_RESERVATION = "BehindReservation"
    WAITING_FOR_PREEMPTION = "WaitingForPreemption"


_RANKS = {reason: rank for rank, reason in enumerate(Reason)}


def rank_of(reason: Reason) -> int:
    """Precedence: the lowest is the plainest cause."""
    return _RANKS[reason]


class Cause(StrEnum):
    """What took nodes out of the running, in the order of the funnel."""

    HEALTH = "health"
    """Not ready, cordoned, or avoided after a fault."""
    TAINT = "taint"
    SELECTOR = "selector"
    MODEL = "model"
    LEVEL = "level"
    """Stands in no domain of the level asked for."""
    EXCLUSIVE = "exclusive"
    GPUS = "gpus"
    CPU = "cpu"
    MEMORY = "memory"
    LINKS = "links"
    """No free GPU set that is joined, or has a NIC beside it, as required."""


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """`left` nodes could still take a worker of `role` after the filter for `cause`."""

    role: str
    cause: Cause
    left: int


@dataclass(frozen=True, slots=True)
class Quota:
    """The queue that refused: `asked` on top of `used` passes `allowed` of `resource` (its unit: `resources.py`)."""

    queue: int
    resource: str
    used: int
    asked: int
    allowed: int


@dataclass(frozen=True, slots=True)
class Help:
    """A change that would let the job start: `kind` names it, the numbers say how much."""

    kind: str
    amount: int = 0
    of: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer for all waiting jobs of one shape in one queue."""

    reason: Reason
    role: str = ""
    asked: int = 0
    """What is missing, in GPUs (parts), millicores or bytes as the reason says; workers for ExceedsCluster."""
    free: int = 0
    level: str = ""
    until: float = 0.0
    quota: Quota | None = None
    funnel: tuple[FunnelStep, ...] = ()
    help: tuple[Help, ...] = ()
    blocked_by: int = 0
    """Key of the job in front (BehindHead); 0 = none."""
