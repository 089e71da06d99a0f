"""The learned mix as the core's values, and a policy that uses it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from muster.clusters.profiles import with_argument
from muster.fragmentation.models import LearnedMix
from scheduler.model.policy import PlacementPolicy, Point, Policy
from scheduler.score.frag.mix import TaskShape, WorkloadMix

PLUGIN = "fragmentation"


@dataclass(frozen=True)
class Learned:
    """What was learned of a cluster, and when."""

    at: dt.datetime
    mix: WorkloadMix
    usable: tuple[float, ...]


_kept: dict[int, Learned] = {}


def learned(cluster_id: int) -> Learned | None:
    """The mix of a cluster, None before any was learned. Kept by the process for as long as the row stays the same."""
    rows = LearnedMix.objects.filter(cluster_id=cluster_id)
    at = rows.values_list("at", flat=True).first()
    if at is None:
        return None
    known = _kept.get(cluster_id)
    if known is None or known.at != at:
        row = rows.get()
        known = _kept[cluster_id] = Learned(row.at, tuple(_task(told) for told in row.tasks), tuple(row.usable))
    return known


def with_mix(policy: Policy, cluster_id: int) -> Policy:
    """A policy whose fragmentation score goes by what was learned; any other policy as it is."""
    if not _scores_fragmentation(policy):
        return policy
    found = learned(cluster_id)
    if found is None:
        return policy
    return with_argument(replace(policy, mix=found.mix), Point.SCORE, PLUGIN, phi=found.usable)


def told(mix: WorkloadMix) -> list[dict[str, Any]]:
    """A mix as JSON."""
    return [asdict(task) | {"share": round(share, 6)} for task, share in mix]


def _task(row: Mapping[str, Any]) -> tuple[TaskShape, float]:
    columns = {name: value for name, value in row.items() if name not in {"share", "models"}}
    return TaskShape(**columns, models=tuple(row["models"])), row["share"]


def _scores_fragmentation(policy: Policy) -> bool:
    if policy.profile is None:
        return policy.placement == PlacementPolicy.FRAGMENTATION
    return any(use.name == PLUGIN for use in policy.profile.at(Point.SCORE))
