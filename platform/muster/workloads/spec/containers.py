"""What one role's container runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Container:
    """Image, command, arguments and environment of the workers of one role; the role's own words win over the job's."""

    image: str
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)


def container_of(spec: dict[str, Any], role_name: str) -> Container:
    """The container of `role_name` in a canonical spec."""
    role = next((role for role in spec.get("roles", ()) if role["name"] == role_name), {})
    return Container(
        image=role.get("image") or spec["image"],
        command=tuple(role.get("command") or spec.get("command", ())),
        # Arguments go with their command: a role that replaces one does not inherit the other.
        args=tuple(role.get("args") or (() if role.get("command") else spec.get("args", ()))),
        env={**spec.get("env", {}), **role.get("env", {})},
    )
