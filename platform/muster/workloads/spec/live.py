"""Which keys and values of the schema are not built yet. They are refused by name, never ignored; building one deletes its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muster.workloads.spec.reader import Path, dotted

NOT_BUILT_KEYS = {
    "min_workers": "elastic jobs",
    "roles.min_workers": "elastic jobs",
    "min_runtime": "protection from preemption",
}
NOT_BUILT_VALUES: Mapping[str, Mapping[Any, str]] = {
    "kind": {
        "inference": "inference services",
        "batch": "batch jobs on idle GPUs",
        "placeholder": "placeholders",
    },
    "template": {"inference": "inference services", "notebook": "notebooks"},
    "preemptible": {False: "jobs that may not be preempted"},
}


def not_supported(data: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Path and sentence of everything in `data` whose feature is not there yet."""
    for key, value in data.items():
        here = (*path, key)
        name = ".".join(str(part) for part in here if isinstance(part, str))
        if name in NOT_BUILT_KEYS:
            yield here, f"`{dotted(here)}` is not supported yet ({NOT_BUILT_KEYS[name]})."
        elif not isinstance(value, dict | list) and value in NOT_BUILT_VALUES.get(name, {}):
            yield here, f"`{dotted(here)}: {_as_yaml(value)}` is not supported yet ({NOT_BUILT_VALUES[name][value]})."
        elif key in ("workers", "gpus") and isinstance(value, str) and (value.endswith("+") or ".." in value):
            yield here, f"`{dotted(here)}: {value}` is not supported yet (ranges)."
        elif key == "roles" and isinstance(value, list):
            for index, role in enumerate(value):
                yield from not_supported(role, (*here, index))


def _as_yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
