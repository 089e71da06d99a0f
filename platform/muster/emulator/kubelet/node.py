"""One node's kubelet."""

import asyncio
import contextlib
import functools
import ipaddress
import logging
import shutil
from pathlib import Path

from muster.emulator.hardware.nodes import ready_conditions
from muster.emulator.kubelet import podstatus
from muster.emulator.kubelet.devices import DeviceTable, Rejection, check_resources
from muster.emulator.kubelet.logs import ContainerLog
from muster.emulator.kubelet.ports import PortBook
from muster.emulator.kubelet.process import is_process_image
from muster.emulator.kubelet.worker import PodWorker, change_pod
from muster.emulator.registry import pods
from muster.emulator.registry.errors import Json
from muster.emulator.registry.kinds import NOT_READY
from muster.emulator.registry.resources import NODES, PODS
from muster.emulator.registry.store import Entry, Store, key_of
from muster.emulator.settings import Settings

_log = logging.getLogger(__name__)
_FIRST_POD_ADDRESS = int(ipaddress.IPv4Address("10.128.0.2"))


class NodeAgent:
    """Admits the pods bound to its node, runs them, and can fall silent on order."""

    def __init__(self, name: str, store: Store, ports: PortBook, *, settings: Settings, root: Path):
        self.name = name
        self.store = store
        self.ports = ports
        self.settings = settings
        self.mark = str(root)
        self.reachable = asyncio.Event()
        self.reachable.set()
        self.devices = DeviceTable()
        self._root = root
        self._workers: dict[str, PodWorker] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._requests: dict[str, dict[str, int]] = {}  # of the pods that hold resources, by uid
        self._dead: set[str] = set()  # pods whose containers ended when the machine lost its power

    def join(self) -> None:
        """Register as ready: take off the taint of a node that nobody has heard of yet."""
        node = self.store.get(NODES, ("", self.name)).copy()
        taints = node.get("spec", {}).get("taints") or []
        if NOT_READY not in taints:
            return
        node["spec"]["taints"] = [taint for taint in taints if taint != NOT_READY]
        node["status"]["conditions"] = ready_conditions()
        node["status"].setdefault("addresses", [{"type": "InternalIP", "address": "10.20.0.250"}])
        self.store.update(NODES, node)

    def sync(self, entry: Entry) -> None:
        """Do for a pod what its object asks: begin it, stop it, or nothing."""
        if not self.reachable.is_set():
            return
        meta, phase = entry.obj["metadata"], entry.obj["status"].get("phase")
        uid = meta["uid"]
        if uid in self._tasks:
            if meta.get("deletionTimestamp"):
                self._workers[uid].order.give(meta.get("deletionGracePeriodSeconds", 0))
        elif phase in pods.TERMINAL:
            if meta.get("deletionTimestamp"):
                self._spawn_removal(entry)
        elif uid not in self._workers or uid in self._dead:
            self._begin(entry)

    def forget(self, uid: str) -> None:
        """The object is gone: whatever still runs of it is killed."""
        self._dead.discard(uid)
        worker = self._workers.get(uid)
        if worker is not None:
            worker.order.give(0)
        if uid not in self._tasks:
            self._clean(uid)

    def logs_of(self, uid: str) -> dict[str, ContainerLog] | None:
        worker = self._workers.get(uid)
        return worker.logs if worker else None

    def folder_of(self, uid: str) -> Path:
        folder = self._root / uid
        folder.mkdir(exist_ok=True)
        return folder

    def addresses(self, uid: str) -> tuple[str, str]:
        """The node's address, and one for the pod: derived from its uid, dialled by nobody."""
        status = self.store.get(NODES, ("", self.name)).obj["status"] if self._exists() else {}
        host = next((row["address"] for row in status.get("addresses") or []), "127.0.0.1")
        offset = int(uid.replace("-", "")[:8], 16) % 4_000_000
        return host, str(ipaddress.IPv4Address(_FIRST_POD_ADDRESS + offset))

    def fall_silent(self) -> None:
        self.reachable.clear()

    def power_off(self) -> None:
        """The machine is gone with everything on it. What it wrote last stays written."""
        self.fall_silent()
        self._dead |= set(self._tasks)
        for task in self._tasks.values():
            task.cancel()

    def come_back(self) -> None:
        """Reach the API server again, and do what was asked meanwhile."""
        self.reachable.set()
        for uid in set(self._tasks) - self._dead:
            self._workers[uid].report()
        mine = [entry for entry in self.store.entries(PODS) if entry.obj["spec"].get("nodeName") == self.name]
        for entry in mine:
            self.sync(entry)
        for uid in set(self._tasks) - {entry.obj["metadata"]["uid"] for entry in mine}:
            self.forget(uid)

    def abandon(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    async def stop(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _exists(self) -> bool:
        return self.store.find(NODES, ("", self.name)) is not None

    def _begin(self, entry: Entry) -> None:
        pod, uid = entry.copy(), entry.obj["metadata"]["uid"]
        if uid in self._dead or _lost_its_process(pod):
            self._dead.discard(uid)
            self._fail_after_restart(pod)
            return
        try:
            devices = self._admit(pod)
        except Rejection as refused:
            reason, message = refused.reason, refused.message
            change_pod(self.store, key_of(pod), uid, lambda obj: podstatus.write_rejection(obj, reason, message))
            return
        worker = PodWorker(self, pod, devices)
        self._workers[uid] = worker
        if pod["metadata"].get("deletionTimestamp"):
            worker.order.give(pod["metadata"].get("deletionGracePeriodSeconds", 0))
        self._spawn(worker)

    def _spawn(self, worker: PodWorker) -> None:
        task = asyncio.create_task(worker.run(), name=f"pod {worker.key}")
        self._tasks[worker.uid] = task
        task.add_done_callback(functools.partial(self._ended, worker))

    def _ended(self, worker: PodWorker, task: "asyncio.Task[None]") -> None:
        """Give the pod's resources back; its log stays while the object does."""
        uid = worker.uid
        self._tasks.pop(uid, None)
        self._requests.pop(uid, None)
        self.devices.release(uid)
        self.ports.release(uid)
        if not task.cancelled() and task.exception() is not None:
            _log.error("the worker of pod %s failed", worker.key, exc_info=task.exception())
        entry = self.store.find(PODS, worker.key)
        if entry is None or entry.obj["metadata"]["uid"] != uid:
            self._clean(uid)
        elif uid in self._dead:
            self.sync(entry)  # it ended after its node was back

    def _clean(self, uid: str) -> None:
        self._workers.pop(uid, None)
        with contextlib.suppress(OSError):
            shutil.rmtree(self._root / uid)

    def _spawn_removal(self, entry: Entry) -> None:
        worker = PodWorker(self, entry.copy(), None)
        task = asyncio.create_task(worker.finish_deletion())
        self._tasks[worker.uid] = task
        self._workers.setdefault(worker.uid, worker)
        task.add_done_callback(functools.partial(self._ended, worker))

    def _admit(self, pod: Json) -> Json | None:
        """The kubelet's admission: resources, then devices. Returns the devices given.

        A pod that ran before a restart keeps what it had, whatever has become of the node since.
        """
        ran_before = pod["status"].get("phase") == "Running"
        asked = {"pods": 1, **pods.requests_of(pod["spec"])}
        if not ran_before:
            node = self.store.get(NODES, ("", self.name)).obj
            check_resources(asked, self._requests.values(), node["status"].get("allocatable") or {})
        devices = self.devices.allocate(pod, keeps=ran_before)
        self._requests[pod["metadata"]["uid"]] = asked
        return devices

    def _fail_after_restart(self, pod: Json) -> None:
        uid, message = pod["metadata"]["uid"], "Pod was terminated in response to imminent node shutdown."

        def fail(obj: Json) -> None:
            podstatus.write_failure(obj, "NodeShutdown", message)

        change_pod(self.store, key_of(pod), uid, fail)


def _lost_its_process(pod: Json) -> bool:
    """A process pod that is said to run, of which this kubelet knows nothing: its process died with an emulator."""
    has_process = any(is_process_image(container.get("image", "")) for container in pod["spec"]["containers"])
    return has_process and pod["status"].get("phase") == "Running"
