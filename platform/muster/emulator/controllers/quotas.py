"""The quota controller: counts what the pods of a namespace use when quotas come and pods leave."""

from fractions import Fraction

from muster.emulator.registry import pods
from muster.emulator.registry.quota import usage_of, write_used
from muster.emulator.registry.resources import PODS, QUOTAS
from muster.emulator.registry.store import Change, Store


class QuotaCounter:
    def __init__(self, store: Store):
        self._store = store

    def see(self, change: Change) -> None:
        namespace = change.entry.obj["metadata"].get("namespace", "")
        if change.resource is QUOTAS and change.verb != "DELETED":
            spec_before = change.before.obj.get("spec") if change.before else None
            if spec_before != change.entry.obj.get("spec"):
                self._count(namespace)
        elif change.resource is PODS and (change.verb == "DELETED" or _has_ended(change)):
            self._count(namespace)

    def _count(self, namespace: str) -> None:
        quotas = self._store.entries(QUOTAS, namespace)
        if not quotas:
            return
        used: dict[str, Fraction] = {}
        for entry in self._store.entries(PODS, namespace):
            if entry.obj["status"].get("phase") not in pods.TERMINAL:
                for name, amount in usage_of(entry.obj).items():
                    used[name] = used.get(name, Fraction(0)) + amount
        for quota in quotas:
            write_used(self._store, quota, used)


def _has_ended(change: Change) -> bool:
    was = change.before.obj["status"].get("phase") if change.before else None
    return change.entry.obj["status"].get("phase") in pods.TERMINAL and was not in pods.TERMINAL
