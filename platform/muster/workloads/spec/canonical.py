"""The canonical form: the scenario format's job (seconds, bytes, integers) with what a container needs beside it.

Defaults that say nothing are left out, so that files which ask alike become the same form.
"""

from __future__ import annotations

from typing import Any

from muster.workloads.spec import units

KEPT = (
    "name",
    "queue",
    "cluster",
    "template",
    "image",
    "volumes",
    "gpu_fraction",
    "mig",
    "locality",
    "topology",
    "tolerations",
    "retries",
    "after",
    "not_before",
    "priority",
)
FLAGS = ("time_slice", "exclusive", "spread", "held")
ROLE_KEPT = ("near", "apart", "image")


def canonical(data: dict[str, Any]) -> dict[str, Any]:
    """The canonical form of a checked document. Queue, priority and `after` stay as written: only rows can resolve them."""
    spec: dict[str, Any] = {"version": 1, "kind": data.get("kind", "training")}
    spec |= {key: data[key] for key in KEPT if data.get(key) not in (None, "", [], {})}
    spec |= {key: True for key in FLAGS if data.get(key)}
    spec |= _texts(data)
    if data.get("annotations"):
        spec["annotations"] = _strings(data["annotations"])
    if data.get("node_selector"):
        spec["node_selector"] = _strings(data["node_selector"])
    if data.get("gpu_memory"):
        spec["gpu_memory"] = units.size(data["gpu_memory"])
    if data.get("nic", "preferred") != "preferred":
        spec["nic"] = data["nic"]
    if "walltime" in data:
        spec["walltime"] = units.seconds(data["walltime"])
    if data.get("checkpoint"):
        spec["checkpoint"] = _checkpoint(data["checkpoint"])
    if isinstance(data.get("not_before"), str | int | float):
        spec["not_before"] = data["not_before"]
    return spec | _needs(data) | _workers(data)


def _needs(data: dict[str, Any]) -> dict[str, Any]:
    """`gpu` with the model that `gpus: H100:8` names, sizes in bytes."""
    needs = dict(data.get("gpu", {}))
    gpus = data.get("gpus", 0)
    if isinstance(gpus, str) and ":" in gpus:
        needs["model"] = gpus.rpartition(":")[0]
    if isinstance(needs.get("model"), str):
        needs["model"] = [needs["model"]]
    if "min_memory" in needs:
        needs["min_memory"] = units.size(needs["min_memory"])
    return {"gpu": needs} if needs else {}


def _workers(data: dict[str, Any]) -> dict[str, Any]:
    if "roles" not in data:
        return _role(data)
    return {"roles": [{"name": role["name"], **_role(role), **_role_extras(role)} for role in data["roles"]]}


def _role(data: dict[str, Any]) -> dict[str, Any]:
    """How many workers, and what each asks for; cpus and memory only where they were named."""
    role: dict[str, Any] = {"workers": int(data.get("workers", 1))}
    gpus = int(str(data.get("gpus", 0)).rpartition(":")[2])
    if gpus:
        role["gpus"] = gpus
    if "cpus" in data:
        role["cpus"] = units.cores(units.cpu_milli(data["cpus"]))
    if "memory" in data:
        role["memory"] = units.size(data["memory"])
    return role


def _role_extras(role: dict[str, Any]) -> dict[str, Any]:
    extras = {key: role[key] for key in ROLE_KEPT if key in role} | _texts(role)
    return extras | ({"ends_job": True} if role.get("ends_job") else {})


def _checkpoint(data: dict[str, Any]) -> dict[str, Any]:
    times = {key: units.seconds(data[key]) for key in ("every", "grace") if key in data}
    words = {"command": _words(data["command"])} if data.get("command") else {}
    return times | words | ({"path": data["path"]} if data.get("path") else {})


def _texts(data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {key: _words(data[key]) for key in ("command", "args") if data.get(key)}
    return found | ({"env": _strings(data["env"])} if data.get("env") else {})


def _words(items: list[Any]) -> list[str]:
    return [_text(item) for item in items]


def _strings(mapping: dict[str, Any]) -> dict[str, str]:
    return {str(key): _text(value) for key, value in mapping.items()}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
