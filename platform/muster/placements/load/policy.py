"""A cluster's settings as the core's Policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.common.errors import Invalid
from scheduler.model.policy import CORE_POINTS, PlacementPolicy, PluginUse, Point, Policy, Profile
from scheduler.registry import default_profile, validate

SWITCHES = ("backfill", "preemption")


class BadProfile(Invalid):
    """The cluster's scheduling profile cannot be used."""

    code = "bad_profile"


def policy_of(profile: Mapping[str, Any]) -> Policy:
    """The policy that a cluster's stored profile describes; raises BadProfile, naming what is wrong.

    Its keys are `placement` (pack, spread, fragmentation), the switches `backfill` and `preemption`, and the extension points,
    each with its plugins in order: a name, or `{name, weight, args}`. Points not named have the default's plugins.
    """
    known = {"placement", *SWITCHES, *map(str, Point)}
    unknown = sorted(set(profile) - known)
    if unknown:
        raise BadProfile(f"`{unknown[0]}` is neither a switch nor an extension point of a profile.")
    try:
        placement = PlacementPolicy(profile.get("placement", PlacementPolicy.PACK))
    except ValueError:
        choices = ", ".join(PlacementPolicy)
        raise BadProfile(f"`placement` must be one of {choices}, not {profile['placement']!r}.") from None
    return Policy(
        placement=placement,
        backfill=_switch("backfill", profile.get("backfill", True)),
        preemption=_switch("preemption", profile.get("preemption", True)),
        profile=_profile(profile, placement),
    )


def _switch(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadProfile(f"`{name}` must be true or false, not {value!r}.")
    return value


def _profile(told: Mapping[str, Any], placement: PlacementPolicy) -> Profile | None:
    """The default's plugins with those of the points told; None where no point of the core is told."""
    points = [point for point in CORE_POINTS if str(point) in told]
    if not points:
        return None
    default = default_profile(placement)
    own = {point: tuple(_use(point, one) for one in told[point]) for point in points}
    profile = Profile("own", {**default.plugins, **own})
    if faults := validate(profile):
        raise BadProfile(f"The profile cannot be used: {'; '.join(faults)}.")
    return profile


def _use(point: Point, told: Any) -> PluginUse:
    if isinstance(told, str):
        return PluginUse(told)
    if not isinstance(told, Mapping) or "name" not in told or set(told) - {"name", "weight", "args"}:
        raise BadProfile(f"`{point}` lists plugins by name, or as a mapping of name, weight and args.")
    return PluginUse(told["name"], told.get("weight", 1), dict(told.get("args") or {}))
