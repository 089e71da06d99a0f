"""The schema as it lies beside this file, and what can be looked up in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_name("schema.json").read_text())
VERSION = 1


@cache
def validator() -> Draft202012Validator:
    """The compiled schema; `date-time` is checked, not only annotated."""
    return Draft202012Validator(SCHEMA, format_checker=FormatChecker(["date-time"]))


def resolve(node: dict[str, Any]) -> dict[str, Any]:
    """`node`, or what its `$ref` points to."""
    reference = node.get("$ref")
    return SCHEMA["$defs"][reference.rpartition("/")[2]] if reference else node


def known_keys(prefix: str = "", node: dict[str, Any] | None = None) -> Iterator[str]:
    """Every key of the schema with its dotted path; items of a list carry their list's path."""
    node = resolve(SCHEMA if node is None else node)
    for name, below in node.get("properties", {}).items():
        yield f"{prefix}{name}"
        yield from known_keys(f"{prefix}{name}.", below)
    if "items" in node:
        yield from known_keys(prefix, node["items"])
