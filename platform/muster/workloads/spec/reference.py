"""The guide's page on the job file, made from the schema: `python -m muster.workloads.spec.reference > docs/guide/job-file.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from muster.workloads.spec.live import NOT_BUILT_KEYS, NOT_BUILT_VALUES
from muster.workloads.spec.schema import SCHEMA, resolve

HEAD = """\
# The job file

Version 1. This page is made from `platform/muster/workloads/spec/schema.json`; the interface serves the schema itself at
`/api/v1/job-schema/`. Times are written as `90s`, `10m`, `1h30m` or a number of seconds, sizes as `64Gi` or a number of
bytes. A key that is not listed is refused, with its line and the nearest name that is.
"""


def reference() -> str:
    """The page."""
    sections = [HEAD, _table("", SCHEMA)]
    for name, node in SCHEMA["properties"].items():
        below = resolve(node)
        below = resolve(below.get("items", below))
        if "properties" in below:
            sections.append(f"## `{name}`\n\n{node.get('description', '')}\n\n{_table(f'{name}.', below)}")
    sections.append(f"## Not supported yet\n\nRefused by name, never ignored.\n\n{''.join(_not_built())}")
    return "\n".join(sections)


def _table(prefix: str, node: dict[str, Any]) -> str:
    rows = ["| key | value | meaning |", "|---|---|---|"]
    for name, child in node["properties"].items():
        below = resolve(child)
        required = " (required)" if name in node.get("required", ()) else ""
        text = child.get("description") or below.get("description", "")
        rows.append(f"| `{prefix}{name}`{required} | {_cell(below.get('x-expects', ''))} | {_cell(text)} |")
    return "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _not_built() -> Iterator[str]:
    for key, what in NOT_BUILT_KEYS.items():
        yield f"- `{key}`: {what}\n"
    for key, values in NOT_BUILT_VALUES.items():
        for value, what in values.items():
            yield f"- `{key}: {str(value).lower()}`: {what}\n"
    yield "- ranges, as `workers: 4+` and `gpus: H100:1..2`\n"


if __name__ == "__main__":
    sys.stdout.write(reference())
