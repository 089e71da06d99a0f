"""Whose fault is a pod's end? Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from muster.workloads.choices import WorkerPhase

OWN_REASONS = frozenset({"", "Error", "OOMKilled", "Completed", "StartError", "ContainerCannotRun"})
"""Reasons that a container's own end gives. Every other one (Evicted, NodeShutdown, OutOfcpu …) is the cluster's."""

LOG_LINES_SHOWN = 20
_LATEST = dt.datetime.max.replace(tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class Member:
    """A worker with what was seen of its pod."""

    worker_id: int
    role: str
    index: int
    phase: str
    rank: int | None = None
    node_id: int | None = None
    node_name: str = ""
    is_node_ready: bool = True
    has_pod: bool = False
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    last_lines: str = ""
    ended_at: dt.datetime | None = None

    @property
    def has_run(self) -> bool:
        """Its containers run, or ran to their end."""
        ran = (WorkerPhase.RUNNING, WorkerPhase.SUCCEEDED)
        return self.phase in ran or (self.phase == WorkerPhase.FAILED and self.exit_code is not None)

    @property
    def title(self) -> str:
        """How people call it: role, index, rank and node."""
        rank = "" if self.rank is None else f" (rank {self.rank})"
        place = f" on {self.node_name}" if self.node_name else ""
        return f"{self.role}-{self.index}{rank}{place}"

    @property
    def is_own_fault(self) -> bool:
        """A container exited non-zero on a node that stayed ready, and nothing else is said of the pod."""
        has_failed = self.phase == WorkerPhase.FAILED and bool(self.exit_code)
        return has_failed and self.is_node_ready and self.reason in OWN_REASONS

    @property
    def end_message(self) -> str:
        """One sentence on how it ended."""
        if self.phase == WorkerPhase.GONE:
            return f"The pod of {self.title} is gone{_because(self)}."
        if self.is_own_fault:
            killed = ", out of memory" if self.reason == "OOMKilled" else ""
            return f"{self.title} exited with code {self.exit_code}{killed}."
        return f"The cluster ended {self.title}{_because(self)}."

    @property
    def message_with_log(self) -> str:
        """`end_message` and the last lines of its log."""
        lines = self.last_lines.splitlines()[-LOG_LINES_SHOWN:]
        return "\n".join([self.end_message, *lines])


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an attempt cannot go on. `nodes` are those not to be used again for a while."""

    is_own: bool
    message: str
    nodes: frozenset[int]


def find_fault(members: Sequence[Member]) -> Fault | None:
    """The fault that ends the attempt: one of the cluster if there is any, since the other ranks then fail by it."""
    clusters = [member for member in members if _is_cluster_fault(member)]
    if clusters:
        nodes = frozenset(member.node_id for member in clusters if member.node_id is not None)
        return Fault(is_own=False, message=_first(clusters).end_message, nodes=nodes)
    failed = first_failed(members)
    if failed is None:
        return None
    nodes = frozenset() if failed.node_id is None else frozenset({failed.node_id})
    return Fault(is_own=True, message=failed.end_message, nodes=nodes)


def first_failed(members: Sequence[Member]) -> Member | None:
    """The worker whose own fault came first: later ones mostly fail because it is missing."""
    own = [member for member in members if member.is_own_fault]
    return _first(own) if own else None


def _is_cluster_fault(member: Member) -> bool:
    if member.phase == WorkerPhase.GONE:
        return True
    return member.phase == WorkerPhase.FAILED and not member.is_own_fault


def _first(members: Iterable[Member]) -> Member:
    return min(members, key=lambda member: (member.ended_at or _LATEST, member.worker_id))


def _because(member: Member) -> str:
    words = ": ".join(part for part in (member.reason, member.message) if part)
    if words:
        return f" ({words})"
    return "" if member.is_node_ready else " (its node is not ready)"
