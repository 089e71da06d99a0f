"""The informer's memory of one cluster: only what later messages need. Kubernetes has the truth, the rows have the history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from muster.clusters.seen import OthersSeen
from muster.kube.informer.pods import Usage
from muster.kube.informer.slices import Slices
from muster.placements.actions import OrphanSeen


@dataclass(frozen=True, slots=True)
class Ours:
    """An object of ours: a pod (with its worker) or a Service (`worker_id` 0)."""

    attempt_id: int
    namespace: str
    name: str
    worker_id: int = 0


@dataclass
class View:
    """What exists, by uid; nodes by name. `node_objects` are encoded: they are read again when a node's slices change."""

    nodes: dict[str, str] = field(default_factory=dict)
    node_objects: dict[str, bytes] = field(default_factory=dict)
    slices: Slices = field(default_factory=Slices)
    pods: dict[str, Ours] = field(default_factory=dict)
    services: dict[str, Ours] = field(default_factory=dict)
    others: dict[str, Usage] = field(default_factory=dict)
    unlisted: set[str] = field(default_factory=set)
    """Pods that the reconciler's last list had no more, though the watch has not said that they ended."""
    _on_node: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def put_other(self, uid: str, usage: Usage | None) -> set[str]:
        """A pod of somebody else as it is now (None: it takes nothing); the nodes this concerns."""
        before = self.others.get(uid)
        if before == usage:
            return set()
        concerned = set()
        if before is not None:
            self._on_node[before.node].discard(uid)
            del self.others[uid]
            concerned.add(before.node)
        if usage is not None:
            self.others[uid] = usage
            self._on_node[usage.node].add(uid)
            concerned.add(usage.node)
        return concerned

    def others_on(self, node: str) -> OthersSeen:
        """The sum of what pods of others take from a node."""
        usages = sorted((self.others[uid] for uid in self._on_node[node]), key=lambda usage: usage.pod)
        return OthersSeen(
            cpu_milli=sum(usage.cpu_milli for usage in usages),
            memory_bytes=sum(usage.memory_bytes for usage in usages),
            pods=len(usages),
            gpus={index: usage.pod for usage in usages for index in usage.gpus or ()},
            unplaced=tuple((usage.pod, usage.gpu_count) for usage in usages if usage.gpu_count and usage.gpus is None),
        )

    def nodes_with_others(self) -> Iterable[str]:
        """Every node on which pods of others were seen."""
        return list(self._on_node)


def orphan(kind: str, uid: str, ours: Ours) -> OrphanSeen:
    """An object of ours as placements records it for deletion."""
    return OrphanSeen(kind=kind, namespace=ours.namespace, name=ours.name, uid=uid)
