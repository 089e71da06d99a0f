"""The kubelets of all simulated nodes: they see the pods that are bound to them, and run them."""

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import orjson

from muster.emulator.hardware.nodes import TOPOLOGY
from muster.emulator.kubelet.devices import DeviceTable
from muster.emulator.kubelet.logs import ContainerLog
from muster.emulator.kubelet.node import NodeAgent
from muster.emulator.kubelet.ports import PortBook
from muster.emulator.kubelet.process import sweep
from muster.emulator.registry.errors import Json
from muster.emulator.registry.kinds import KUBELET
from muster.emulator.registry.resources import NODES, PODS
from muster.emulator.registry.store import Change, Entry, Store, nothing
from muster.emulator.settings import Settings

BINDING = "emulator.muster.dev/binding"


class Kubelets:
    """One agent per node that carries the annotation `emulator.muster.dev/node`."""

    def __init__(self, store: Store, settings: Settings):
        self.store = store
        self.ports = PortBook()
        self.agents: dict[str, NodeAgent] = {}
        self._settings = settings
        self._root: Path | None = None
        self._is_following = False
        self._stop_listening: Callable[[], None] = nothing

    def start(self) -> None:
        """Take over what the store holds, then follow its changes."""
        state = self._settings.state
        if state is None:
            root = Path(tempfile.mkdtemp(prefix="muster-emulator-"))
        else:
            root = state.resolve().with_suffix(".pods")
            sweep(str(root))
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir(parents=True)
        self._root = root
        for entry in self.store.entries(NODES):
            self._see_node(entry)
        for entry in self.store.entries(PODS):
            self._see_pod(entry)
        self._is_following = True
        self._stop_listening = self.store.listen(self._notice)

    async def stop(self) -> None:
        """End all workers and every process; statuses stay as they are."""
        self._stop_listening()
        await asyncio.gather(*(agent.stop() for agent in self.agents.values()))
        if self._root is not None:
            shutil.rmtree(self._root, ignore_errors=True)

    def log_of(self, node: str, uid: str, container: str) -> ContainerLog | None:
        """None when the container has not started, or its log went with an earlier emulator."""
        agent = self.agents.get(node)
        logs = agent.logs_of(uid) if agent else None
        return logs.get(container) if logs else None

    def is_reachable(self, node: str) -> bool:
        return node in self.agents and self.agents[node].reachable.is_set()

    def _notice(self, change: Change) -> None:
        # Through the loop, not at once: a status written while the store still tells of the binding would reach
        # watchers before it.
        asyncio.get_running_loop().call_soon(self._see, change)

    def _see(self, change: Change) -> None:
        if change.resource is NODES:
            if change.verb == "DELETED":
                self._lose_node(change.entry.obj["metadata"]["name"])
            else:
                self._see_node(change.entry)
        elif change.resource is PODS:
            if change.verb == "DELETED":
                self._see_gone(change.entry.obj)
            else:
                self._see_pod(change.entry)

    def _see_node(self, entry: Entry) -> None:
        meta = entry.obj["metadata"]
        if KUBELET not in (meta.get("annotations") or {}) or self._root is None:
            return
        agent = self.agents.get(meta["name"])
        if agent is not None:
            _read_devices(agent.devices, entry.obj)
            return
        agent = NodeAgent(meta["name"], self.store, self.ports, settings=self._settings, root=self._root)
        self.agents[meta["name"]] = agent
        _read_devices(agent.devices, entry.obj)
        if _is_lost(entry.obj):
            agent.fall_silent()  # lost before a restart, and not given back since
            return
        agent.join()
        if self._is_following:
            agent.come_back()  # a node that joins late may have pods already

    def _lose_node(self, name: str) -> None:
        agent = self.agents.pop(name, None)
        if agent is not None:
            agent.abandon()

    def _see_pod(self, entry: Entry) -> None:
        agent = self.agents.get(entry.obj["spec"].get("nodeName", ""))
        if agent is not None:
            # Later changes may have come while this one waited its turn.
            current = self.store.find(PODS, (entry.obj["metadata"]["namespace"], entry.obj["metadata"]["name"]))
            if current is not None and current.obj["metadata"]["uid"] == entry.obj["metadata"]["uid"]:
                agent.sync(current)

    def _see_gone(self, pod: Json) -> None:
        agent = self.agents.get(pod["spec"].get("nodeName", ""))
        if agent is not None:
            agent.forget(pod["metadata"]["uid"])


def _is_lost(node: Json) -> bool:
    conditions = node["status"].get("conditions") or []
    return any(row["type"] == "Ready" and row["status"] == "Unknown" for row in conditions)


def _read_devices(devices: DeviceTable, node: Json) -> None:
    """Follow the node's annotations: which GPUs there are, which are healthy, whether they are chosen exactly."""
    annotations = node["metadata"].get("annotations") or {}
    devices.is_exact = annotations.get(BINDING, "exact") == "exact"
    with contextlib.suppress(orjson.JSONDecodeError, KeyError, TypeError):
        wiring = orjson.loads(annotations.get(TOPOLOGY, "{}"))
        devices.healthy = {gpu["index"]: gpu.get("healthy", True) for gpu in wiring.get("gpus", [])}
