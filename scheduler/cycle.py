"""plan(): one scheduling cycle, as a numbered list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.framework import Candidate
from scheduler.model.plan import Plan, Unit
from scheduler.model.policy import Policy
from scheduler.model.snapshot import Snapshot
from scheduler.model.verdict import Reason, Verdict, rank_of
from scheduler.place.attempt import attempt
from scheduler.place.grow import grow
from scheduler.place.possible import impossible
from scheduler.registry import plugins_of
from scheduler.world import World

if TYPE_CHECKING:
    from numpy.random import Generator


def plan(snapshot: Snapshot, policy: Policy, now: float, rng: Generator | None = None) -> Plan:
    """Decide what starts next and why everybody else waits. Pure: the same arguments give the same plan."""
    # 1. Make the world: working copies of what is in use, and the profile's plugins.
    world = World(snapshot, policy, plugins_of(policy), now=now)
    world.rng = rng
    # 2. Allocate: take the next job of the next queue, place it whole or record a verdict, until nobody is left.
    units, verdicts = _allocate(world)
    # 3. Grow: elastic jobs above their minimum, on what everybody else left.
    units = grow(world, units)
    # 4. Say it: units in the order of decision, one verdict per group of waiting jobs.
    return _as_plan(world, units, verdicts)


def _allocate(world: World) -> tuple[list[Unit], dict[int, Verdict]]:
    units: list[Unit] = []
    verdicts: dict[int, Verdict] = {}
    stream = world.plugins.queue_sort.open(world)
    candidates = _Candidates(world.snapshot)
    while (row := stream.next()) is not None:
        candidate = candidates.at(row)
        outcome = attempt(world, candidate)
        if isinstance(outcome, Unit):
            units.append(outcome)
            if candidate.shape is not world.snapshot.waiting.shape[row]:
                world.started_elastic[candidate.key] = row
            stream.placed(row)
            continue
        rescued = _post_filter(world, candidate, outcome)
        if rescued:
            units += rescued
            stream.placed(row)
            continue
        verdicts[row] = outcome
        stream.refused(row, outcome)
        _note_head(world, candidate, outcome)
    return units, verdicts


def _post_filter(world: World, candidate: Candidate, verdict: Verdict) -> list[Unit]:
    """Only a gang that Filter or Reserve could not place is helped."""
    if rank_of(verdict.reason) < rank_of(Reason.INSUFFICIENT_GPUS):
        return []
    for plugin in world.plugins.post_filters:
        units = plugin.post_filter(world, candidate, verdict)
        if units:
            world.refused.clear()  # what its victims gave back may be room for others
            return list(units)
    return []


def _note_head(world: World, candidate: Candidate, verdict: Verdict) -> None:
    """The first candidate of a queue that could not be placed is its head; what can never run is no candidate."""
    if world.policy.backfill or candidate.queue in world.heads:
        return
    if rank_of(verdict.reason) >= rank_of(Reason.BACKOFF) and impossible(world, candidate.shape) is None:
        world.heads[candidate.queue] = candidate.key


class _Candidates:
    """Rows of the waiting table as candidates, elastic ones at their minimum; keys become lists once."""

    def __init__(self, snapshot: Snapshot) -> None:
        waiting = snapshot.waiting
        self._keys, self._queues = waiting.key.tolist(), waiting.queue.tolist()
        self._shapes, self._avoid = waiting.shape, waiting.avoid

    def at(self, row: int) -> Candidate:
        return Candidate(row, self._keys[row], self._shapes[row].at_minimum, self._queues[row], self._avoid[row])


def _as_plan(world: World, units: list[Unit], verdicts: dict[int, Verdict]) -> Plan:
    numbers: dict[int, int] = {}
    distinct: list[Verdict] = []
    verdict_of = np.full(len(world.snapshot.waiting), -1, dtype=np.int64)
    for row, verdict in verdicts.items():
        number = numbers.get(id(verdict))
        if number is None:
            number = numbers[id(verdict)] = len(distinct)
            distinct.append(verdict)
        verdict_of[row] = number
    return Plan(tuple(units), tuple(distinct), verdict_of)
