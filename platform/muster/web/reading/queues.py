"""The tree of queues with their bars on one scale."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from muster.accounts.standing import Standing
from muster.placements.objects import queues as totals


def queue_tree(standing: Standing, cluster_id: int) -> dict[str, Any]:
    """Rows in the order of the tree, each with its depth, GPU quota and totals; all bars share the scale `most`."""
    rows = totals.everything(cluster_id)
    children: dict[int | None, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        row["gpu"] = row["quotas"].get("gpu", {})
        row["flavors"] = {
            name.partition("/")[2]: quota for name, quota in row["quotas"].items() if name.startswith("gpu/")
        }
        row["words"] = _words(row)
        row["is_mine"] = standing.can_see(row["tenant"])
        children[row["parent"]].append(row)
    ordered: list[dict[str, Any]] = []
    _walk(children, None, 0, ordered)
    figures = [row["used"] for row in rows] + [
        row["gpu"].get(name) or 0 for row in rows for name in ("limit", "guaranteed")
    ]
    return {"rows": ordered, "most": max([*figures, 1])}


def _walk(
    children: dict[int | None, list[dict[str, Any]]], parent: int | None, depth: int, into: list[dict[str, Any]]
) -> None:
    for row in sorted(children[parent], key=lambda one: (one["tenant_name"], -one["priority"], one["name"])):
        row["depth"] = depth
        row["is_leaf"] = not children[row["pk"]]
        into.append(row)
        _walk(children, row["pk"], depth + 1, into)


def _words(row: dict[str, Any]) -> str:
    """The bar, for who does not see it."""
    limit = row["gpu"].get("limit")
    bound = "no limit" if limit is None else f"limit {limit}"
    return f"{row['name']}: {row['used']:g} GPUs in use, {row['gpu'].get('guaranteed', 0)} guaranteed, {bound}"
