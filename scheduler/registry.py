"""Plugins by name, and profiles made of them. A new plugin is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from scheduler.feasible.health import Health
from scheduler.feasible.labels import Selector, Taints
from scheduler.feasible.links import Links
from scheduler.feasible.model import Level, Model
from scheduler.feasible.resources import Cpu, Exclusive, Gpus, Memory
from scheduler.framework import Ask, Filter, Permit, PostFilter, PreFilter, PreScore, QueueSort, Reserve, Score
from scheduler.model.policy import CORE_POINTS, PlacementPolicy, PluginUse, Point, Policy, Profile
from scheduler.queueing.order import PriorityOrder
from scheduler.queueing.prefilters import Backoff, QuotaLeft, Ready, StrictOrder
from scheduler.reserve.plugins import Nics, QuotaCharge, WholeGang
from scheduler.score.balance import Balanced, ImageLocality
from scheduler.score.bands import Band
from scheduler.score.frag.plugin import Fragmentation
from scheduler.score.links import LinkQuality
from scheduler.score.normalized import normalized
from scheduler.score.packing import IdleCpu, Pack, Sharing, SpareGpuNodes, Spread

Factory = type[Any]


class ProfileError(ValueError):
    """A profile names a plugin or an argument that does not exist, or lacks what every profile needs."""


CORE: dict[Point, dict[str, Factory]] = {
    Point.QUEUE_SORT: {"priority": PriorityOrder},
    Point.PRE_FILTER: {"ready": Ready, "backoff": Backoff, "quota": QuotaLeft, "strictOrder": StrictOrder},
    Point.FILTER: {
        "health": Health,
        "taints": Taints,
        "selector": Selector,
        "model": Model,
        "level": Level,
        "exclusive": Exclusive,
        "gpus": Gpus,
        "cpu": Cpu,
        "memory": Memory,
        "links": Links,
    },
    Point.POST_FILTER: {},
    Point.PRE_SCORE: {},
    Point.SCORE: {
        "sharing": Sharing,
        "spareGpuNodes": SpareGpuNodes,
        "linkQuality": LinkQuality,
        "pack": Pack,
        "spread": Spread,
        "fragmentation": Fragmentation,
        "balanced": Balanced,
        "imageLocality": ImageLocality,
        "idleCpu": IdleCpu,
    },
    Point.RESERVE: {"quota": QuotaCharge, "nics": Nics},
    Point.PERMIT: {"wholeGang": WholeGang},
}
"""Plugins that plan() runs; a plugin's arguments are the fields of its dataclass."""

EXECUTOR: dict[Point, dict[str, Mapping[str, type]]] = {
    Point.PRE_BIND: {},
    Point.BIND: {},
    Point.POST_BIND: {},
}
"""Names and argument types of the plugins that the executor brings (`declare`)."""


def declare(point: Point, name: str, arguments: Mapping[str, type] | None = None) -> None:
    """Make a plugin of the executor known, so that profiles naming it can be validated here."""
    EXECUTOR[point][name] = MappingProxyType(dict(arguments or {}))


def register(point: Point, name: str, factory: Factory) -> None:
    """Add a plugin of the core under a new name."""
    if name in CORE[point]:
        raise ProfileError(f"{point}: a plugin named {name} is there already")
    CORE[point][name] = factory
    resolve.cache_clear()


@dataclass(frozen=True)
class ScoreUse:
    """A score plugin with its weight among those of its band."""

    plugin: Score
    weight: int = 1


@dataclass(frozen=True)
class Plugins:
    """A profile's plugins, made and sorted by what plan() needs of them."""

    queue_sort: QueueSort
    pre_filters: tuple[PreFilter, ...]
    filters: tuple[Filter, ...]
    post_filters: tuple[PostFilter, ...]
    pre_score: Mapping[str, PreScore]
    scores: tuple[ScoreUse, ...]
    reserve: tuple[Reserve, ...]
    permit: tuple[Permit, ...]

    def scores_for(self, ask: Ask) -> dict[Band, list[ScoreUse]]:
        """The score plugins that say something about this ask, by band."""
        found: dict[Band, list[ScoreUse]] = {}
        for use in self.scores:
            if use.plugin.applies(ask):
                found.setdefault(use.plugin.band, []).append(use)
        return found


_PRE_FILTERS = ("ready", "backoff", "quota", "strictOrder")
_FILTERS = ("health", "taints", "selector", "model", "level", "exclusive", "gpus", "cpu", "memory", "links")


def default_profile(placement: PlacementPolicy = PlacementPolicy.PACK) -> Profile:
    """What runs where nobody chose otherwise."""
    spread = placement == PlacementPolicy.SPREAD
    policy = PluginUse(str(placement))
    idle = PluginUse("idleCpu", args=MappingProxyType({"most": spread}))
    scores = (PluginUse("sharing"), PluginUse("spareGpuNodes"), PluginUse("linkQuality"), policy, idle)
    return Profile(
        "default",
        {
            Point.QUEUE_SORT: (PluginUse("priority"),),
            Point.PRE_FILTER: tuple(PluginUse(name) for name in _PRE_FILTERS),
            Point.FILTER: tuple(PluginUse(name) for name in _FILTERS),
            Point.SCORE: scores,
            Point.RESERVE: (PluginUse("quota"), PluginUse("nics")),
            Point.PERMIT: (PluginUse("wholeGang"),),
        },
    )


def validate(profile: Profile) -> list[str]:
    """Every fault of a profile, in words; empty when it can run."""
    faults = []
    for point, uses in profile.plugins.items():
        for use in uses:
            faults += _faults_of(point, use)
    if len(profile.at(Point.QUEUE_SORT)) != 1:
        faults.append("queueSort needs exactly one plugin")
    for point in (Point.FILTER, Point.SCORE, Point.RESERVE):
        names = [use.name for use in profile.at(point)]
        faults += [f"{point}: {name} is listed twice" for name in sorted({n for n in names if names.count(n) > 1})]
    return faults


def _faults_of(point: Point, use: PluginUse) -> list[str]:
    if use.weight < 1:
        return [f"{point}: {use.name} has weight {use.weight}, at least 1 is needed"]
    if point in CORE_POINTS:
        if use.name not in CORE[point]:
            return [f"{point}: there is no plugin {use.name}, known are {', '.join(sorted(CORE[point])) or 'none'}"]
        known = {field.name for field in fields(CORE[point][use.name])}
    else:
        if use.name not in EXECUTOR[point]:
            return [f"{point}: there is no plugin {use.name}, known are {', '.join(sorted(EXECUTOR[point])) or 'none'}"]
        known = set(EXECUTOR[point][use.name])
    return [f"{point}: {use.name} has no argument {name}" for name in sorted(set(use.args) - known)]


def plugins_of(policy: Policy) -> Plugins:
    """The plugins that a policy runs."""
    if policy.profile is None:
        return resolve(policy.placement)
    faults = validate(policy.profile)
    if faults:
        raise ProfileError("; ".join(faults))
    return make(policy.profile)


@lru_cache(maxsize=8)
def resolve(placement: PlacementPolicy) -> Plugins:
    """The default profile's plugins, made once."""
    return make(default_profile(placement))


def make(profile: Profile) -> Plugins:
    """Make every core plugin of a valid profile."""
    made = {point: [CORE[point][use.name](**use.args) for use in profile.at(point)] for point in CORE_POINTS}
    names = {point: [use.name for use in profile.at(point)] for point in CORE_POINTS}
    return Plugins(
        queue_sort=made[Point.QUEUE_SORT][0],
        pre_filters=tuple(made[Point.PRE_FILTER]),
        filters=tuple(made[Point.FILTER]),
        post_filters=tuple(made[Point.POST_FILTER]),
        pre_score=dict(zip(names[Point.PRE_SCORE], made[Point.PRE_SCORE], strict=True)),
        scores=tuple(
            ScoreUse(normalized(plugin), use.weight)
            for plugin, use in zip(made[Point.SCORE], profile.at(Point.SCORE), strict=True)
        ),
        reserve=tuple(made[Point.RESERVE]),
        permit=tuple(made[Point.PERMIT]),
    )
