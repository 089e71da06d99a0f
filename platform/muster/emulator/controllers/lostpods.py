"""Pods whose node is gone or unreachable: the pod garbage collector and the taint manager."""

import asyncio
import contextlib

from muster.emulator.registry import pods
from muster.emulator.registry.delete import DeleteOptions, delete
from muster.emulator.registry.errors import ApiError, Json
from muster.emulator.registry.resources import NODES, PODS
from muster.emulator.registry.store import Change, Entry, Store, key_of


class LostPods:
    """Keeps one timer per pod that is on its way out."""

    def __init__(self, store: Store, gc_seconds: float):
        self._store = store
        self._gc_seconds = gc_seconds
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()

    def see(self, change: Change) -> None:
        if change.resource is NODES:
            self._see_node(change)
        elif change.resource is PODS:
            self._see_pod(change)

    def _see_node(self, change: Change) -> None:
        name = change.entry.obj["metadata"]["name"]
        before = _evicting(change.before) if change.before else []
        if change.verb != "DELETED" and before == _evicting(change.entry):
            return
        for entry in self._store.entries(PODS):
            if entry.obj["spec"].get("nodeName") == name:
                self._judge(entry)

    def _see_pod(self, change: Change) -> None:
        uid = change.entry.obj["metadata"]["uid"]
        if change.verb == "DELETED":
            self._forget(uid)
            return
        was_bound = change.before is not None and change.before.obj["spec"].get("nodeName")
        if change.entry.obj["spec"].get("nodeName") and not was_bound:
            self._judge(change.entry)

    def _judge(self, entry: Entry) -> None:
        """Set or take off the timer of a bound pod, by what its node looks like now."""
        pod = entry.obj
        self._forget(pod["metadata"]["uid"])
        node = self._store.find(NODES, ("", pod["spec"]["nodeName"]))
        if node is None:
            self._later(pod, self._gc_seconds, "DeletionByPodGC", "PodGC: node no longer exists")
            return
        seconds = _tolerated_seconds(pod, _evicting(node))
        if seconds is not None:
            self._later(pod, seconds, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")

    def _later(self, pod: Json, seconds: float, reason: str, message: str) -> None:
        uid = pod["metadata"]["uid"]
        timer = asyncio.get_running_loop().call_later(seconds, self._end, key_of(pod), uid, reason, message)
        self._timers[uid] = timer

    def _forget(self, uid: str) -> None:
        timer = self._timers.pop(uid, None)
        if timer is not None:
            timer.cancel()

    def _end(self, key: tuple[str, str], uid: str, reason: str, message: str) -> None:
        self._timers.pop(uid, None)
        entry = self._store.find(PODS, key)
        if entry is None or entry.obj["metadata"]["uid"] != uid or entry.obj["metadata"].get("deletionTimestamp"):
            return
        is_gone = reason == "DeletionByPodGC"
        if is_gone and self._store.find(NODES, ("", entry.obj["spec"]["nodeName"])) is not None:
            return  # the node came back
        pod = entry.copy()
        pods.set_condition(pod, pods.condition("DisruptionTarget", "True", reason, message))
        if is_gone:
            pod["status"]["phase"] = "Failed"
        self._store.update(PODS, pod)
        with contextlib.suppress(ApiError):
            delete(self._store, PODS, key, DeleteOptions(grace=0 if is_gone else None, uid=uid))


def _evicting(node: Entry) -> list[Json]:
    return [taint for taint in node.obj.get("spec", {}).get("taints") or [] if taint["effect"] == "NoExecute"]


def _tolerated_seconds(pod: Json, taints: list[Json]) -> float | None:
    """How long a pod may stay beside these taints; None for ever."""
    shortest: float | None = None
    for taint in taints:
        matching = [t for t in pod["spec"].get("tolerations") or [] if _tolerates(t, taint)]
        if not matching:
            return 0.0
        limits = [t["tolerationSeconds"] for t in matching if t.get("tolerationSeconds") is not None]
        if limits and len(limits) == len(matching):
            shortest = min([*limits, *([shortest] if shortest is not None else [])])
    return shortest


def _tolerates(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("key") not in (None, "", taint["key"]):
        return False
    return bool(
        toleration.get("operator", "Equal") == "Exists" or toleration.get("value", "") == taint.get("value", "")
    )
