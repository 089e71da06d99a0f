"""What a reflector tells: objects as they are now, objects gone, and how it fares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from muster.kube.errors import KubeError
from muster.kube.resources import Resource


@dataclass(frozen=True)
class Put:
    """An object, new or changed."""

    resource: Resource
    uid: str
    object: dict[str, Any]


@dataclass(frozen=True)
class Gone:
    """An object that is no more."""

    resource: Resource
    uid: str


@dataclass(frozen=True)
class Listed:
    """Everything of this kind has been told: what was not told does not exist."""

    resource: Resource


@dataclass(frozen=True)
class Trouble:
    """The cluster does not let us read: `error` says why."""

    resource: Resource
    error: KubeError


@dataclass(frozen=True)
class Fine:
    """The trouble is over."""

    resource: Resource


Message = Put | Gone | Listed | Trouble | Fine
