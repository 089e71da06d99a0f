"""PreBind `nodes`: the API server binds to a node that does not exist, so the target nodes are read once more."""

from __future__ import annotations

from typing import Any

from muster.kube import errors
from muster.kube.executor.plugins.base import Binding
from muster.kube.executor.requests import Refused, all_of, persist
from muster.kube.resources import NODES


class Nodes:
    """Refuses a gang with a member on a node that is gone, going or not ready."""

    def pre_bind(self, binding: Binding) -> None:
        """Read every target node, many at once."""

        def check(name: str) -> None:
            try:
                node = persist(lambda: binding.gateway.get(NODES, "", name))
            except errors.NotFound as error:
                raise Refused(f"Node {name} is gone.", node=name) from error
            if node["metadata"].get("deletionTimestamp") or not is_ready(node):
                raise Refused(f"Node {name} is not ready.", node=name)

        all_of(check, sorted({member.node for member in binding.members}))


def is_ready(node: dict[str, Any]) -> bool:
    """Whether the node's kubelet says Ready."""
    conditions = (node.get("status") or {}).get("conditions") or []
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
