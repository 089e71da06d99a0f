"""The executor's plugins by name, with the types of their arguments: what a profile may say, known without loading any of them."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.model.policy import Point
from scheduler.registry import declare

NAMES: Mapping[Point, Mapping[str, Mapping[str, type]]] = {
    Point.PRE_BIND: {"nodes": {}},
    Point.BIND: {"hami": {}, "default": {}},
    Point.POST_BIND: {"events": {}},
}


def declare_all() -> None:
    """Let profiles name them."""
    for point, plugins in NAMES.items():
        for name, arguments in plugins.items():
            declare(point, name, arguments)
