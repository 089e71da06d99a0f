"""`muster fits`: what could start now, by size and level."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from muster.cli.client import Muster
from muster.cli.output import AsJson, print_json, print_table, told_errors

Fits = dict[str, Any]


def fits(
    cluster: Annotated[str | None, typer.Option(help="This cluster; without it the first.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say how many jobs of each size could start now, each size as if it came alone."""
    with told_errors(as_json=as_json), Muster() as muster:
        found = muster.fits(cluster)
    if as_json:
        print_json(found)
        return
    heads = ("WORKER", "COULD START", "JOINED BY NVLINK")
    print_table(heads, [_size_row(size) for size in found["fits"]["sizes"]])
    levels = [one["level"] for one in found["fits"]["largest"]]
    rows = _node_rows(found["fits"], levels)
    if rows:
        typer.echo()
        print_table(("WHOLE NODES", *(f"IN ONE {level.upper()}" for level in levels)), rows)


def _size_row(size: Fits) -> tuple[object, ...]:
    return f"{size['gpus']} GPU", size["jobs"], size["joined"] if size["gpus"] > 1 else "—"


def _node_rows(fits: Fits, levels: list[str]) -> list[tuple[object, ...]]:
    jobs = {(one["nodes"], one["level"]): one["jobs"] for one in fits["domains"]}
    return [(nodes, *(jobs.get((nodes, level), 0) for level in levels)) for nodes in sorted({key[0] for key in jobs})]
