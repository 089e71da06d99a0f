"""`muster queues` and `muster nodes`."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer

from muster.cli.client import Muster
from muster.cli.output import AsJson, plain, print_json, print_table, told_errors


def queues(as_json: AsJson = False) -> None:
    """List queues with their quotas and what they use."""
    with told_errors(as_json=as_json), Muster() as muster:
        found = muster.queues()
    if as_json:
        print_json(found)
        return
    heads = ("QUEUE", "GUARANTEED", "LIMIT", "USED", "RUNNING", "WAITING")
    print_table(heads, [_queue_row(queue) for queue in sorted(found, key=_tree_order)])


def _tree_order(queue: dict[str, Any]) -> tuple[str, bool, str]:
    return queue["tenant"], queue["parent"] is not None, queue["full_name"]


def _queue_row(queue: dict[str, Any]) -> tuple[object, ...]:
    gpus = [quota for quota in queue["quotas"] if quota["resource"] == "gpu"]
    limits = [quota["limit"] for quota in gpus if quota["limit"] is not None]
    totals = queue["totals"]
    name = queue["full_name"] if queue["parent"] else queue["tenant"]
    return (
        name,
        sum(quota["guaranteed"] for quota in gpus),
        sum(limits) if limits else "—",
        plain(totals["gpus_used"]),
        totals["active"],
        totals["waiting"],
    )


def nodes(
    cluster: Annotated[str | None, typer.Option(help="Only this cluster's.")] = None, as_json: AsJson = False
) -> None:
    """List nodes with their GPUs."""
    with told_errors(as_json=as_json), Muster() as muster:
        found = muster.nodes(**({"cluster": cluster} if cluster else {}))
    if as_json:
        print_json(found)
        return
    heads = ("NODE", "STATE", "GPUS", "BAD", "SHAPE", "PLACE")
    print_table(heads, [_node_row(node) for node in found])


def _node_row(node: dict[str, Any]) -> tuple[object, ...]:
    models = Counter(gpu["flavor"] or "unknown" for gpu in node["gpus"])
    bad = sum(gpu["health"] != "ok" for gpu in node["gpus"])
    state = "ready" if node["ready"] else "not ready"
    return (
        node["name"],
        f"{state}, cordoned" if node["cordoned"] else state,
        ", ".join(f"{count} x {model}" for model, count in models.items()) or "—",
        bad or "—",
        node["shape"] or "—",
        "/".join(node["domains"].values()) or "—",
    )
