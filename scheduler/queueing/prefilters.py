"""PreFilter plugins: ready at all? back-off? quota? behind the head of a strict queue?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.framework import Candidate
from scheduler.model.verdict import Reason, Verdict

if TYPE_CHECKING:
    from scheduler.world import World

_HELD, _DEPENDENCY, _MEMBERS = (
    Verdict(Reason.HELD),
    Verdict(Reason.DEPENDENCY),
    Verdict(Reason.WAITING_FOR_MEMBERS),
)


@dataclass(frozen=True)
class Ready:
    """Not held, nothing to wait for, all members there."""

    def pre_filter(self, world: World, candidate: Candidate) -> Verdict | None:
        waiting, row = world.snapshot.waiting, candidate.row
        if waiting.held[row]:
            return _HELD
        if waiting.unmet[row]:
            return _DEPENDENCY
        return _MEMBERS if waiting.incomplete[row] else None


@dataclass(frozen=True)
class Backoff:
    """Not before its time."""

    def pre_filter(self, world: World, candidate: Candidate) -> Verdict | None:
        until = float(world.snapshot.waiting.not_before[candidate.row])
        return Verdict(Reason.BACKOFF, until=until) if until > world.now else None


@dataclass(frozen=True)
class QuotaLeft:
    """Some choice of GPU models must fit under the limits of the queue and its ancestors."""

    def pre_filter(self, world: World, candidate: Candidate) -> Verdict | None:
        return world.permits(candidate.shape, candidate.queue).refusal


@dataclass(frozen=True)
class StrictOrder:
    """Without backfill nobody passes the first candidate of the queue that could not be placed."""

    def pre_filter(self, world: World, candidate: Candidate) -> Verdict | None:
        head = world.heads.get(candidate.queue)
        if world.policy.backfill or head is None:
            return None
        return Verdict(Reason.BEHIND_HEAD, blocked_by=head)
