"""A cluster's scheduling profile: what an administrator may decide, as the core's Policy.

Its keys are `placement` (pack, spread, fragmentation), the switches `backfill` and `preemption`, `bandwidths` (nominal, measured,
or the cluster's own figures) and the extension points, each with its plugins in order: a name, or `{name, weight, args}`. Points
not named have the default's plugins; the empty profile is the default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, get_type_hints

from muster.common.errors import Invalid
from scheduler import registry
from scheduler.model.bandwidth import IS_MEASURED, IS_NOMINAL, PRESETS, Bandwidths, Figure
from scheduler.model.policy import CORE_POINTS, PlacementPolicy, PluginUse, Point, Policy, Profile

SWITCHES = ("backfill", "preemption")
BORDERS = ("switch", "numa", "across", "near", "beyond")
"""What a cluster may have figures of its own for: links within a node, and per node to near and far nodes."""
_KEYS = ("placement", "bandwidths", *SWITCHES, *map(str, Point))


class BadProfile(Invalid):
    """The cluster's scheduling profile cannot be used."""

    code = "bad_profile"


def policy_of(told: Mapping[str, Any]) -> Policy:
    """The policy that a stored profile describes; raises BadProfile, naming what is wrong."""
    if not isinstance(told, Mapping):
        raise _bad("A profile is a mapping; `{}` is the default one.")
    if unknown := sorted(set(told) - set(_KEYS)):
        raise _bad(f"`{unknown[0]}` is neither a switch nor an extension point of a profile.")
    placement = _placement(told.get("placement", PlacementPolicy.PACK))
    return Policy(
        placement=placement,
        backfill=_switch("backfill", told.get("backfill", True)),
        preemption=_switch("preemption", told.get("preemption", True)),
        profile=_profile(told, placement),
        bandwidths=_bandwidths(told.get("bandwidths", IS_NOMINAL)),
    )


def with_argument(policy: Policy, point: Point, plugin: str, **args: Any) -> Policy:
    """The policy with these arguments for a plugin it uses, where the profile does not give them itself."""
    profile = policy.profile or registry.default_profile(policy.placement)
    uses = tuple(
        PluginUse(use.name, use.weight, args | dict(use.args)) if use.name == plugin else use
        for use in profile.at(point)
    )
    if uses == profile.at(point):
        return policy
    return replace(policy, profile=Profile(profile.name, {**profile.plugins, point: uses}))


def _placement(value: Any) -> PlacementPolicy:
    try:
        return PlacementPolicy(value)
    except ValueError:
        raise _bad(f"`placement` must be one of {', '.join(PlacementPolicy)}, not {value!r}.") from None


def _switch(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _bad(f"`{name}` must be true or false, not {value!r}.")
    return value


def _bandwidths(value: Any) -> Bandwidths:
    """A preset by name, or `{preset, near, beyond, …}` with the cluster's own figures in its place."""
    own = dict(value) if isinstance(value, Mapping) else {"preset": value}
    preset = own.pop("preset", IS_NOMINAL)
    if not isinstance(preset, str) or preset not in PRESETS:
        raise _bad(f"`bandwidths` must be one of {', '.join(PRESETS)}, not {preset!r}.")
    if unknown := sorted(set(own) - set(BORDERS)):
        raise _bad(f"`bandwidths` has no {unknown[0]}, but {', '.join(BORDERS)}.")
    figures: dict[str, Any] = {border: _figure(border, told) for border, told in own.items()}
    return replace(PRESETS[preset], **figures)


def _figure(border: str, told: Any) -> Figure:
    """GB/s, or `{gigabytes, source}`; a figure counts as nominal unless it is said to be measured."""
    known = dict(told) if isinstance(told, Mapping) else {"gigabytes": told}
    gigabytes, source = known.pop("gigabytes", None), known.pop("source", IS_NOMINAL)
    if known or not _is_of(gigabytes, float) or not gigabytes > 0 or source not in (IS_NOMINAL, IS_MEASURED):
        raise _bad(f"`bandwidths`: {border} is a number of GB/s, or a mapping of gigabytes and source, not {told!r}.")
    return Figure(float(gigabytes), source, basis="told by an administrator")


def _profile(told: Mapping[str, Any], placement: PlacementPolicy) -> Profile | None:
    """The default's plugins with those of the points told; None where no point of the core is told."""
    own = {point: tuple(_uses(point, told[point])) for point in Point if point in told}
    profile = Profile("own", {**registry.default_profile(placement).plugins, **own})
    for point, uses in own.items():
        for use in uses:
            _check_point(point, use)
    if faults := registry.validate(profile):
        raise _bad(f"The profile cannot be used: {'; '.join(faults)}.")
    for point, uses in own.items():
        for use in uses:
            _check_values(point, use)
    return profile if own.keys() & set(CORE_POINTS) else None


def _uses(point: Point, told: Any) -> Iterable[PluginUse]:
    if not isinstance(told, list):
        raise _bad(f"`{point}` is a list of plugins.")
    for one in told:
        if isinstance(one, str):
            yield PluginUse(one)
            continue
        if not isinstance(one, Mapping) or "name" not in one or set(one) - {"name", "weight", "args"}:
            raise _bad(f"`{point}` lists plugins by name, or as a mapping of name, weight and args.")
        weight, args = one.get("weight", 1), one.get("args") or {}
        if not isinstance(weight, int) or isinstance(weight, bool) or not isinstance(args, Mapping):
            raise _bad(f"`{point}`: {one['name']} needs a whole number as weight and a mapping as args.")
        yield PluginUse(one["name"], weight, {name: _frozen(value) for name, value in args.items()})


def _frozen(value: Any) -> Any:
    """JSON knows no tuples; plugins are compared and hashed."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _known(point: Point) -> Mapping[str, Any]:
    return registry.CORE[point] if point in CORE_POINTS else registry.EXECUTOR[point]


def _check_point(point: Point, use: PluginUse) -> None:
    """A plugin that is known at another point gets that said."""
    places = [str(other) for other in Point if use.name in _known(other)]
    if places and use.name not in _known(point):
        raise _bad(f"`{point}`: {use.name} is a plugin of {', '.join(places)}.")


def _check_values(point: Point, use: PluginUse) -> None:
    """Arguments of the right types, which the plugin itself accepts."""
    if point not in CORE_POINTS:
        return
    factory = registry.CORE[point][use.name]
    wanted = get_type_hints(factory)
    for name, value in use.args.items():
        if not _is_of(value, wanted[name]):
            raise _bad(f"`{point}`: {use.name} takes a {wanted[name].__name__} as {name}, not {value!r}.")
    needed = {one.name for one in fields(factory) if one.default is MISSING and one.default_factory is MISSING}
    if missing := sorted(needed - use.args.keys()):
        raise _bad(f"`{point}`: {use.name} needs the argument {missing[0]}.")
    try:
        factory(**use.args)
    except (TypeError, ValueError) as error:
        raise _bad(f"`{point}`: {use.name}: {error}.") from None


def _is_of(value: Any, wanted: Any) -> bool:
    """Whether a plain value is of the plain type wanted; what is not plain is the plugin's own to judge."""
    if wanted not in {bool, int, float, str}:
        return True
    if wanted is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is wanted


def _bad(message: str) -> BadProfile:
    return BadProfile(message, fields={"profile": [message]})
