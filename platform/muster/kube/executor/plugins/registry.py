"""Plugins by the names that profiles use. Adding one: a small file here, one line in the table, one in `names.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from muster.common.errors import Invalid
from muster.kube.executor.plugins.base import Bind, PostBind, PreBind
from muster.kube.executor.plugins.binder import DefaultBinder
from muster.kube.executor.plugins.events import Events
from muster.kube.executor.plugins.hami import HamiBinder
from muster.kube.executor.plugins.nodes import Nodes
from scheduler.model.policy import Point

PLUGINS: dict[Point, dict[str, Callable[..., Any]]] = {
    Point.PRE_BIND: {"nodes": Nodes},
    Point.BIND: {"hami": HamiBinder, "default": DefaultBinder},
    Point.POST_BIND: {"events": Events},
}

DEFAULTS: dict[Point, tuple[str, ...]] = {
    Point.PRE_BIND: ("nodes",),
    Point.BIND: ("hami", "default"),
    Point.POST_BIND: (),
}


class MissingPlugin(Invalid):
    """The profile names a plugin that is not installed."""

    code = "missing_plugin"


@dataclass(frozen=True)
class Plugins:
    """The executor's plugins of one cluster, in order."""

    pre_bind: tuple[PreBind, ...]
    bind: tuple[Bind, ...]
    post_bind: tuple[PostBind, ...]


def resolve(profile: Mapping[str, Any]) -> Plugins:
    """The plugins a cluster's profile names, the defaults where it names none; MissingPlugin says which one is unknown."""
    return Plugins(
        pre_bind=_at(Point.PRE_BIND, profile),
        bind=_at(Point.BIND, profile),
        post_bind=_at(Point.POST_BIND, profile),
    )


def _at(point: Point, told: Mapping[str, Any]) -> tuple[Any, ...]:
    uses: Iterable[Any] = told.get(point, DEFAULTS[point])
    return tuple(_plugin(point, use) for use in uses)


def _plugin(point: Point, use: str | Mapping[str, Any]) -> Any:
    name, args = (use, {}) if isinstance(use, str) else (str(use.get("name", "")), use.get("args") or {})
    known = PLUGINS[point]
    if name not in known:
        raise MissingPlugin(f"{point} plugin {name!r} is not installed; there is {', '.join(sorted(known))}.")
    try:
        return known[name](**args)
    except TypeError as error:
        raise MissingPlugin(f"{point} plugin {name!r} does not take these arguments: {error}") from error
