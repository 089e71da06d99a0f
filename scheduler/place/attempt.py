"""One candidate's turn: placed whole and booked, or a verdict and nothing booked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler.framework import Candidate, Gang
from scheduler.model.bandwidth import bottleneck
from scheduler.model.plan import Bottleneck, Unit
from scheduler.model.verdict import Reason, Verdict, rank_of
from scheduler.place.diagnose import diagnose
from scheduler.place.gang import Models, place_gang
from scheduler.place.possible import impossible
from scheduler.place.shortfall import shortfalls
from scheduler.world import World

_FINAL = (Reason.INSUFFICIENT_GPUS, Reason.NO_MATCHING_NODES, Reason.EXCEEDS_CLUSTER)
_MOST_REPEATS = 64
"""Refusals per plan that are diagnosed anew because others took something since."""


@dataclass(slots=True)
class Refused:
    """What is known of a shape that found no place: it need not be tried again in this cycle, for nothing is given back."""

    verdict: Verdict
    version: int
    """Bookings made when it was diagnosed."""


def attempt(world: World, candidate: Candidate) -> Unit | Verdict:
    """Run the candidate through PreFilter, Filter and Score, Reserve and Permit."""
    verdict = _pre_filter(world, candidate)
    if verdict is not None:
        return _plainest(world, candidate, verdict)
    choices = world.permits(candidate.shape, candidate.queue).choices
    known = world.refused.get((candidate.shape, candidate.avoid, choices))
    if known is not None:
        return _again(world, candidate, choices, known)
    mark = world.ledger.mark()
    gang = place_gang(world, candidate, choices)
    if gang is None:
        verdict = _plainest(world, candidate, diagnose(world, candidate, choices))
        world.refused[candidate.shape, candidate.avoid, choices] = Refused(verdict, len(world.ledger.touched))
        return verdict
    booked = reserve(world, gang)
    if isinstance(booked, Verdict):
        world.ledger.rollback(mark)
        return booked
    return unit_of(world, booked)


def unit_of(world: World, gang: Gang) -> Unit:
    """A placed gang as the plan tells it."""
    told = shortfalls(world, gang)
    return Unit(gang.candidate.key, gang.workers, bottleneck=_bottleneck(world, gang), shortfalls=told)


def _pre_filter(world: World, candidate: Candidate) -> Verdict | None:
    for plugin in world.plugins.pre_filters:
        verdict = plugin.pre_filter(world, candidate)
        if verdict is not None:
            return verdict
    return None


def _plainest(world: World, candidate: Candidate, verdict: Verdict) -> Verdict:
    """That it can never run is said before anything that may pass."""
    if rank_of(verdict.reason) <= rank_of(Reason.EXCEEDS_CLUSTER):
        return verdict
    never = impossible(world, candidate.shape)
    return verdict if never is None or rank_of(never.reason) >= rank_of(verdict.reason) else never


def _again(world: World, candidate: Candidate, choices: tuple[Models, ...], known: Refused) -> Verdict:
    """The verdict of its like; looked into once more if others took something since and another reason may be true now."""
    version = len(world.ledger.touched)
    if known.version == version or known.verdict.reason in _FINAL or world.repeats >= _MOST_REPEATS:
        return known.verdict
    world.repeats += 1
    known.verdict = _plainest(world, candidate, diagnose(world, candidate, choices))
    known.version = len(world.ledger.touched)
    return known.verdict


def reserve(world: World, gang: Gang) -> Gang | Verdict:
    """Reserve and Permit: all of them agree, or everything is taken back in reverse."""
    done = []
    refusal: Verdict | None = None
    for plugin in world.plugins.reserve:
        booked = plugin.reserve(world, gang)
        if isinstance(booked, Verdict):
            refusal = booked
            break
        done.append(plugin)
        gang = booked
    if refusal is None:
        refusal = next((v for p in world.plugins.permit if (v := p.permit(world, gang)) is not None), None)
    if refusal is None:
        return gang
    for plugin in reversed(done):
        plugin.unreserve(world, gang)
    return refusal


def _bottleneck(world: World, gang: Gang) -> Bottleneck | None:
    """The slowest border that the gang's ring crosses; None for fewer than two GPUs."""
    if len(gang.workers) == 1 and gang.workers[0].gpus.bit_count() < 2:
        return None
    ring = sorted(gang.workers, key=lambda worker: worker.rank)
    rows = np.searchsorted(world.layout.nodes.key, [worker.node for worker in ring])
    gpus = np.array([worker.gpus for worker in ring], dtype=np.uint32)
    return bottleneck(world.layout, rows, gpus, world.policy.bandwidths)
