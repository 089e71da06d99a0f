"""One pod on its node: from admission to its last status."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import orjson

from muster.emulator import clock
from muster.emulator.kubelet import podstatus
from muster.emulator.kubelet.behaviour import Behaviour
from muster.emulator.kubelet.containers import Container, Exit, SimulatedContainer, StopOrder, happens
from muster.emulator.kubelet.devices import OBSERVED
from muster.emulator.kubelet.environment import BrokenPod, Site, prepare
from muster.emulator.kubelet.logs import ContainerLog
from muster.emulator.kubelet.podstatus import ContainerState
from muster.emulator.kubelet.ports import ATTEMPT, PortBook
from muster.emulator.kubelet.process import ProcessContainer, is_process_image
from muster.emulator.registry.delete import DeleteOptions, delete
from muster.emulator.registry.errors import ApiError, Json
from muster.emulator.registry.resources import PODS
from muster.emulator.registry.store import Store, key_of
from muster.emulator.settings import Settings

#: Seconds before a container is started again: doubled each time, at most the second.
FIRST_BACKOFF, LONGEST_BACKOFF = 10.0, 300.0


class Host(Protocol):
    """What a worker needs of its node and of the emulator."""

    store: Store
    ports: PortBook
    settings: Settings
    mark: str
    reachable: asyncio.Event

    def folder_of(self, uid: str) -> Path: ...

    def addresses(self, uid: str) -> tuple[str, str]: ...


class PodWorker:
    """Runs an admitted pod and writes what its kubelet would write."""

    def __init__(self, host: Host, pod: Json, devices: Json | None):
        self._host = host
        self._pod = pod  # as it was admitted; its spec does not change
        self._devices = devices
        self.uid: str = pod["metadata"]["uid"]
        self.key = key_of(pod)
        self.order = StopOrder()
        self.logs: dict[str, ContainerLog] = {}
        self._behaviour = Behaviour.of(pod)
        self._states = {
            container["name"]: ContainerState(container["name"], container.get("image", ""))
            for container in pod["spec"]["containers"]
        }

    async def run(self) -> None:
        """Until all containers have ended and, if the pod is being deleted, its object is gone."""
        try:
            self._resume()
            self.report()
            async with asyncio.TaskGroup() as group:
                for container in self._pod["spec"]["containers"]:
                    group.create_task(self._run_container(container))
            await self._host.reachable.wait()
            self.report()
            await self.finish_deletion()
        finally:
            self.order.cancel()
            for log in self.logs.values():
                log.close()

    def report(self) -> None:
        """Write the status as it stands. A silent node's reports are made up for when it is back."""
        if self._host.reachable.is_set():
            change_pod(self._host.store, self.key, self.uid, self._write_into)

    async def finish_deletion(self) -> None:
        """Take the object away if its deletion was asked for: nothing of the pod runs any more."""
        await self._host.reachable.wait()
        entry = self._host.store.find(PODS, self.key)
        if entry is None or not entry.obj["metadata"].get("deletionTimestamp"):
            return
        with contextlib.suppress(ApiError):
            delete(self._host.store, PODS, self.key, DeleteOptions(grace=0, uid=self.uid))

    def _write_into(self, pod: Json) -> None:
        podstatus.write_phase(pod, self._states, self._host.addresses(self.uid))
        if self._devices is not None:
            pod["metadata"].setdefault("annotations", {})[OBSERVED] = orjson.dumps(self._devices).decode()

    def _resume(self) -> None:
        """Take over a simulated pod from the state file: it has been running all the time."""
        for status in self._pod["status"].get("containerStatuses") or []:
            running = status["state"].get("running")
            if running and status["name"] in self._states:
                state = self._states[status["name"]]
                state.started = clock.parse_stamp(running["startedAt"])
                state.restarts = status.get("restartCount", 0)

    async def _run_container(self, spec: Json) -> None:
        state = self._states[spec["name"]]
        if state.started is None and not await self._pull(state):
            return
        while True:
            state.exit = await self._run_once(spec, state)
            state.ended = clock.now()
            if not self._restarts(state.exit):
                return
            await self._back_off(state)
            if self.order.asked.is_set():
                return

    async def _pull(self, state: ContainerState) -> bool:
        """The start delay; False when the pod was stopped in it."""
        if self.order.asked.is_set() or (
            self._behaviour.start_delay > 0 and await happens(self.order.asked, self._behaviour.start_delay)
        ):
            state.exit, state.ended = Exit.of_code(137, "ContainerStatusUnknown"), clock.now()
            return False
        return True

    async def _run_once(self, spec: Json, state: ContainerState) -> Exit:
        try:
            container = await self._start(spec, state)
        except BrokenPod as error:
            state.started = clock.now()
            return Exit(128, "StartError", f"failed to create containerd task: {error}")
        self.logs[spec["name"]] = container.log
        # Nothing may be awaited between start and run: only run ends a process when this task is cancelled.
        self.report()
        try:
            return await container.run(self.order)
        finally:
            container.log.close()

    async def _start(self, spec: Json, state: ContainerState) -> Container:
        if not is_process_image(spec.get("image", "")):
            state.started = state.started or clock.now()
            return SimulatedContainer(self._behaviour, state.started)
        host, meta = self._host, self._pod["metadata"]
        if not host.settings.runs_processes:
            raise BrokenPod("process pods are run only while the emulator listens on loopback")
        attempt = (meta.get("labels") or {}).get(ATTEMPT)
        port = host.ports.reserve(f"{meta['namespace']}/{attempt}" if attempt else self.uid, self.uid)
        launch = prepare(Site(host.store, host.folder_of(self.uid), host.settings.examples, port), self._pod, spec)
        gpus = ((self._devices or {}).get(spec["name"]) or {}).get("gpus")
        if gpus is not None:
            launch.env.setdefault("NVIDIA_VISIBLE_DEVICES", ",".join(map(str, gpus)))
        process = ProcessContainer(launch, host.mark)
        await process.start()
        state.started = clock.now()
        return process

    def _restarts(self, ended: Exit) -> bool:
        policy = self._pod["spec"].get("restartPolicy", "Always")
        return not self.order.asked.is_set() and (policy == "Always" or (policy == "OnFailure" and ended.code != 0))

    async def _back_off(self, state: ContainerState) -> None:
        """CrashLoopBackOff; the container's next start is a new one."""
        wait = min(FIRST_BACKOFF * 2**state.restarts, LONGEST_BACKOFF)
        state.last = state.state()
        state.restarts += 1
        state.started, state.exit, state.ended, state.waiting = None, None, None, "CrashLoopBackOff"
        self.report()
        if await happens(self.order.asked, wait):
            state.exit, state.ended = Exit.of_code(137), clock.now()


def change_pod(store: Store, key: tuple[str, str], uid: str, change: Callable[[Json], None]) -> bool:
    """Change a pod in place as its kubelet, if it is still the same pod; whether it is."""
    entry = store.find(PODS, key)
    if entry is None or entry.obj["metadata"]["uid"] != uid:
        return False
    pod = entry.copy()
    change(pod)
    store.update(PODS, pod)
    return True
