"""ResourceSlices: what DRA drivers publish of a node's devices, followed where the API server has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from muster.kube import errors
from muster.kube.gateway import Gateway
from muster.kube.informer.messages import Listed, Message
from muster.kube.informer.reflector import Reflector, Timing
from muster.kube.resources import SLICES, SLICES_GROUP, Resource

Json = dict[str, Any]

#: Newest first. What we read of a slice is the same in all of them, but that v1beta1 wraps a device in `basic`.
VERSIONS = ("v1", "v1beta2", "v1beta1")
#: A control plane that is upgraded may serve the group later.
LOOK_AGAIN_SECONDS = 600.0


def served_slices(gateway: Gateway) -> Resource | None:
    """The slices in the newest version that we read and the server has; None where it has none."""
    served = gateway.versions(SLICES_GROUP)
    version = next((version for version in VERSIONS if version in served), None)
    return replace(SLICES, prefix=f"apis/{SLICES_GROUP}/{version}") if version else None


class SliceReflector(Reflector):
    """Follows slices where the server has the group, and says that all is listed where it has not.

    Its messages name SLICES whatever the version. Every error is told, for nodes wait for its first word; none means that the
    cluster cannot be read: slices are evidence that may be missing.
    """

    told = (errors.KubeError,)

    def __init__(self, gateway: Gateway, sink: Callable[[Message], None], *, timing: Timing | None = None) -> None:
        super().__init__(gateway, SLICES, lambda message: sink(replace(message, resource=SLICES)), timing=timing)

    def run(self) -> None:
        """Look for the group until it is there, then follow it."""
        while not self._stopping.is_set():
            try:
                resource = served_slices(self._gateway)
            except errors.KubeError as error:
                self._wait(error)
                continue
            if resource is not None:
                self._resource = resource
                super().run()
            else:
                self._tell(Listed(SLICES))
                self._stopping.wait(LOOK_AGAIN_SECONDS)


@dataclass
class _Pool:
    """One pool of one node. While its driver writes a new generation the last complete one stands."""

    entries: dict[str, Json] = field(default_factory=dict)
    current: list[Json] = field(default_factory=list)

    def refresh(self) -> bool:
        """Whether what counts has changed."""
        newest = max((_pool(entry)["generation"] for entry in self.entries.values()), default=0)
        latest = [entry for entry in self.entries.values() if _pool(entry)["generation"] == newest]
        is_whole = not latest or len(latest) >= _pool(latest[0])["resourceSliceCount"]
        if not is_whole or latest == self.current:
            return False
        self.current = latest
        return True


class Slices:
    """The slices of each node: of every pool the newest generation of which all slices are there."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[str, str]] = {}
        self._nodes: dict[str, dict[str, _Pool]] = {}

    def put(self, uid: str, slice_: Json) -> set[str]:
        """A slice as it is now; the nodes whose devices are to be read again. One that is not of a single node tells of none."""
        spec = slice_["spec"]
        node, pool = spec.get("nodeName") or "", f"{spec['driver']}/{_pool(slice_)['name']}"
        moved = self.lose(uid) if self._places.get(uid, (node, pool)) != (node, pool) else set()
        if not node:
            return moved
        self._places[uid] = (node, pool)
        found = self._nodes.setdefault(node, {}).setdefault(pool, _Pool())
        found.entries[uid] = {"spec": spec}
        return moved | ({node} if found.refresh() else set())

    def lose(self, uid: str) -> set[str]:
        """A slice that is no more; the nodes whose devices are to be read again."""
        if uid not in self._places:
            return set()
        node, name = self._places.pop(uid)
        pool = self._nodes[node][name]
        del pool.entries[uid]
        has_changed = pool.refresh()
        if not pool.entries:
            del self._nodes[node][name]
        return {node} if has_changed else set()

    def on_node(self, node: str) -> list[Json]:
        """The slices that count on a node."""
        return [entry for pool in self._nodes.get(node, {}).values() for entry in pool.current]


def _pool(slice_: Json) -> Json:
    return {"generation": 0, "resourceSliceCount": 1, "name": "", **(slice_["spec"].get("pool") or {})}
