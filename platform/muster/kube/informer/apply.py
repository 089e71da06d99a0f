"""From a batch of messages to rows: nodes first, then what others take, then our workers, whose attempts are settled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson

from muster.clusters import observe
from muster.clusters.discovery import Reading, reading_of
from muster.clusters.models import Cluster
from muster.clusters.seen import NodeSeen
from muster.kube.informer import faults
from muster.kube.informer.messages import Gone, Put
from muster.kube.informer.nodes import node_seen, remembered
from muster.kube.informer.pods import attempt_of, is_ours, usage, worker_gone, worker_seen
from muster.kube.informer.view import Ours, View
from muster.kube.resources import NODES, PODS, SERVICES, SLICES
from muster.placements import actions
from muster.placements.actions import WorkerSeen

Json = dict[str, Any]


@dataclass
class Batch:
    """Messages folded: the last word on each object, in the order in which they came."""

    cluster: Cluster
    view: View
    nodes: dict[str, NodeSeen | None] = field(default_factory=dict)
    workers: list[WorkerSeen] = field(default_factory=list)
    concerned: set[str] = field(default_factory=set)
    rewired: set[str] = field(default_factory=set)
    """Nodes whose slices are others than when they were read."""

    @cached_property
    def reading(self) -> Reading:
        """How nodes are read, asked for only where there are any."""
        return reading_of(self.cluster)

    def add(self, message: Put | Gone) -> None:
        """Take one message in."""
        resource = message.resource
        if isinstance(message, Put):
            {
                NODES: self._put_node,
                PODS: self._put_pod,
                SERVICES: self._put_service,
                SLICES: self._put_slice,
            }[resource](message)
        else:
            {
                NODES: self._lose_node,
                PODS: self._lose_pod,
                SERVICES: self._lose_service,
                SLICES: self._lose_slice,
            }[resource](message.uid)

    def apply(self) -> set[int]:
        """Write what was told; the attempts that were settled."""
        for name in self.rewired & set(self.view.node_objects):
            self._read(orjson.loads(self.view.node_objects[name]))
        seen = [one for one in self.nodes.values() if one is not None]
        gone = [name for name, one in self.nodes.items() if one is None]
        if seen:
            observe.observe_nodes(self.cluster, seen)
        if gone:
            observe.observe_gone(self.cluster, gone)
        if seen or gone:
            faults.fault_bad_nodes(self.cluster, self.nodes)
        # A node's row may come after the pods on it.
        concerned = self.concerned | {one.name for one in seen}
        if concerned:
            observe.observe_others(self.cluster, {name: self.view.others_on(name) for name in concerned})
        return actions.observe_workers(self.cluster.pk, self.workers) if self.workers else set()

    def _put_node(self, message: Put) -> None:
        name = message.object["metadata"]["name"]
        self.view.nodes[name] = message.uid
        self.view.node_objects[name] = orjson.dumps(remembered(message.object))
        self._read(message.object)

    def _read(self, node: Json) -> None:
        name = node["metadata"]["name"]
        self.nodes[name] = node_seen(node, self.reading, self.view.slices.on_node(name))

    def _lose_node(self, uid: str) -> None:
        for name, known in list(self.view.nodes.items()):
            # One of the same name may have come already.
            if known == uid:
                del self.view.nodes[name], self.view.node_objects[name]
                self.nodes[name] = None

    def _put_pod(self, message: Put) -> None:
        pod = message.object
        if not is_ours(pod):
            self.concerned |= self.view.put_other(message.uid, usage(pod))
            return
        seen = worker_seen(pod)
        meta = pod["metadata"]
        self.view.pods[message.uid] = Ours(attempt_of(pod), meta["namespace"], meta["name"], seen.worker_id)
        self.workers.append(seen)

    def _lose_pod(self, uid: str) -> None:
        ours = self.view.pods.pop(uid, None)
        if ours is not None:
            self.workers.append(worker_gone(ours.worker_id, uid))
        else:
            self.concerned |= self.view.put_other(uid, None)

    def _put_slice(self, message: Put) -> None:
        self.rewired |= self.view.slices.put(message.uid, message.object)

    def _lose_slice(self, uid: str) -> None:
        self.rewired |= self.view.slices.lose(uid)

    def _lose_service(self, uid: str) -> None:
        self.view.services.pop(uid, None)

    def _put_service(self, message: Put) -> None:
        attempt_id, meta = attempt_of(message.object), message.object["metadata"]
        if attempt_id and not meta.get("deletionTimestamp"):
            self.view.services[message.uid] = Ours(attempt_id, meta["namespace"], meta["name"])


def fold(cluster: Cluster, view: View, messages: Iterable[Put | Gone]) -> Batch:
    """The messages as one batch."""
    batch = Batch(cluster, view)
    for message in messages:
        batch.add(message)
    return batch
