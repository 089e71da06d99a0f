"""One object per cluster: what fitted when it was last looked at. Nodes by name and id, which every member may see."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from muster.fragmentation.queries import latest_sample


def everything(cluster_id: int) -> list[dict[str, Any]]:
    """The cluster's last sample; nothing before the first."""
    sample = latest_sample(cluster_id)
    return [] if sample is None else [{"id": f"fragmentation:{cluster_id}", "at": sample.at, **sample.data}]


def read(cluster_id: int, ids: Iterable[int]) -> list[dict[str, Any]]:
    """The same, for an Event that names the cluster."""
    return everything(cluster_id) if cluster_id in set(ids) else []
