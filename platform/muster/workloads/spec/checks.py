"""Checking a document: the schema first, then what is not built, then what only the whole file can say."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from jsonschema.exceptions import ValidationError

from muster.workloads.spec.errors import Problem, SpecInvalid
from muster.workloads.spec.live import not_supported
from muster.workloads.spec.reader import Document, Path, dotted
from muster.workloads.spec.schema import SCHEMA, known_keys, resolve, validator

GPU_WAYS = ("gpus", "gpu_fraction", "gpu_memory", "mig")
PER_WORKER = ("workers", "min_workers", "gpus", "cpus", "memory", "gpu_fraction", "gpu_memory", "mig", "time_slice")
# Setting these would hand a container devices that the scheduler gave to somebody else.
FORBIDDEN_ENV = frozenset({"NVIDIA_VISIBLE_DEVICES"})
FORBIDDEN_ANNOTATIONS = re.compile(
    r"^(?!emulator\.muster\.dev/)([a-z0-9.-]*\.)?(kubernetes\.io|k8s\.io|muster\.dev|muster\.scheduler|nvidia\.com|hami\.io)/"
)


def check(document: Document) -> None:
    """Raise SpecInvalid with every problem found; the later checks run only on what the schema accepts."""
    problems = list(_schema_problems(document))
    if not problems:
        problems = [_problem(document, *found, code="not_supported_yet") for found in not_supported(document.data)]
        problems += [_problem(document, *found) for found in _whole_file(document.data)]
    if problems:
        raise SpecInvalid(problems)


def _problem(document: Document, path: Path, message: str, *, code: str = "invalid") -> Problem:
    return Problem(dotted(path), message, document.line(path), code=code)


def _schema_problems(document: Document) -> Iterator[Problem]:
    if not isinstance(document.data, dict):
        yield Problem("", "A job file is a mapping of keys to values.", 1 if document.text else None)
        return
    for error in sorted(validator().iter_errors(document.data), key=lambda error: list(map(str, error.absolute_path))):
        yield from _explain(document, error)


def _explain(document: Document, error: ValidationError) -> Iterator[Problem]:
    path: Path = tuple(error.absolute_path)
    rule: Any = error.schema
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = rule.get("properties", {})
        for key in sorted(set(error.instance) - set(known)):
            yield _unknown(document, (*path, key), list(known))
    elif error.validator == "required" and isinstance(error.instance, dict):
        for key in rule["required"]:
            if key not in error.instance:
                name = dotted((*path, key))
                yield Problem(name, f"`{name}` is missing.", document.line(path) if path else None)
    elif error.validator == "not":
        yield _problem(document, path, f"`{dotted(path)}` takes either `required` or `preferred`, not both.")
    else:
        yield _problem(document, path, f"`{dotted(path)}` must be {_expects(error)}, not {_shown(error.instance)}.")


def _unknown(document: Document, path: Path, siblings: list[str]) -> Problem:
    """The nearest valid name: a sibling first, else a key of that name anywhere in the schema."""
    key = str(path[-1])
    close = difflib.get_close_matches(key, siblings, n=3, cutoff=0.6)
    # Two letters swapped is the commonest slip: `gpsu` is gpus, not gpu.
    close.sort(key=lambda name: sorted(name) != sorted(key))
    elsewhere = (name for name in known_keys() if name.rpartition(".")[2] == key)
    nearest = next(iter(close), None) or next(elsewhere, None)
    hint = f"; did you mean `{nearest}`?" if nearest else "."
    return Problem(dotted(path), f"`{dotted(path)}` is not a key of the job file{hint}", document.line(path), nearest)


def _expects(error: ValidationError) -> str:
    """The words beside the failed rule, else those of the nearest rule on the way to it."""
    rule: Any = error.schema
    if "x-expects" in rule:
        return str(rule["x-expects"])
    node, words = SCHEMA, error.message
    for part in error.absolute_path:
        node = resolve(node)
        below = node.get("properties", {}).get(part) or node.get("items") or node.get("additionalProperties")
        node = resolve(below) if isinstance(below, dict) else {}
        words = node.get("x-expects", words)
    return words


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if value is None:
        return "empty"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _whole_file(data: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    ways = [key for key in GPU_WAYS if data.get(key)]
    for extra in ways[1:]:
        yield (extra,), f"`{extra}` cannot stand beside `{ways[0]}`: a worker asks for GPUs in one way."
    if "roles" in data:
        for key in PER_WORKER:
            if key in data:
                yield (key,), f"`{key}` cannot stand beside `roles`: each role says it."
        yield from _roles(data["roles"])
    if isinstance(data.get("gpus"), str) and ":" in data["gpus"] and "model" in data.get("gpu", {}):
        yield ("gpus",), "`gpus` names a model and so does `gpu.model`; keep one."
    yield from _names(data, ())


def _roles(roles: list[dict[str, Any]]) -> Iterator[tuple[Path, str]]:
    names = Counter(role["name"] for role in roles)
    for index, role in enumerate(roles):
        if names[role["name"]] > 1:
            yield ("roles", index, "name"), f"Two roles are called `{role['name']}`."
        for key in ("near", "apart"):
            if key in role and (role[key] not in names or role[key] == role["name"]):
                yield ("roles", index, key), f"`{key}` must name another role of this job, not {role[key]!r}."
        yield from _names(role, ("roles", index))


def _names(data: dict[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    for name in FORBIDDEN_ENV & data.get("env", {}).keys():
        yield (*path, "env", name), f"`{name}` is set by the platform: it decides which GPUs a worker sees."
    for name in data.get("annotations", {}):
        if FORBIDDEN_ANNOTATIONS.match(name):
            yield (*path, "annotations", name), f"The annotation `{name}` belongs to the cluster; a job may not set it."
