"""The garbage collector: objects whose owners are all gone are deleted, in the background."""

import contextlib

from muster.emulator.registry.delete import DeleteOptions, delete
from muster.emulator.registry.errors import ApiError, Json
from muster.emulator.registry.resources import Resource
from muster.emulator.registry.store import Change, Key, Store, key_of

Address = tuple[str, Key]  # resource key and object key


class GarbageCollector:
    """Follows owners by uid."""

    def __init__(self, store: Store):
        self._store = store
        self._alive: set[str] = set()
        self._dependents: dict[str, dict[Address, Resource]] = {}
        self._orphaning: set[str] = set()  # uids whose dependents are to be left alone

    def note(self, resource: Resource, key: Key, propagation: str) -> None:
        entry = self._store.find(resource, key)
        if entry is not None and propagation == "Orphan":
            self._orphaning.add(entry.obj["metadata"]["uid"])

    def see(self, change: Change) -> None:
        meta = change.entry.obj["metadata"]
        address = (change.resource.key, key_of(change.entry.obj))
        owners = _owners(meta)
        if change.verb == "DELETED":
            self._alive.discard(meta["uid"])
            for uid in owners:
                self._dependents.get(uid, {}).pop(address, None)
            self._collect(meta["uid"])
            return
        self._alive.add(meta["uid"])
        for uid in owners:
            self._dependents.setdefault(uid, {})[address] = change.resource
        if owners and change.verb == "ADDED":
            self._delete_if_orphaned(change.resource, address[1])

    def _collect(self, owner: str) -> None:
        dependents = self._dependents.pop(owner, {})
        is_orphaning = owner in self._orphaning
        self._orphaning.discard(owner)
        for (_, key), resource in dependents.items():
            if is_orphaning:
                self._disown(resource, key, owner)
            else:
                self._delete_if_orphaned(resource, key)

    def _delete_if_orphaned(self, resource: Resource, key: Key) -> None:
        entry = self._store.find(resource, key)
        if entry is None:
            return
        owners = _owners(entry.obj["metadata"])
        if owners and not any(self._is_alive(uid) for uid in owners):
            with contextlib.suppress(ApiError):
                delete(self._store, resource, key, DeleteOptions(uid=entry.obj["metadata"]["uid"]))

    def _is_alive(self, uid: str) -> bool:
        return uid in self._alive

    def _disown(self, resource: Resource, key: Key, owner: str) -> None:
        entry = self._store.find(resource, key)
        if entry is None:
            return
        obj = entry.copy()
        kept = [reference for reference in obj["metadata"].get("ownerReferences") or [] if reference["uid"] != owner]
        obj["metadata"]["ownerReferences"] = kept
        if not kept:
            del obj["metadata"]["ownerReferences"]
        self._store.update(resource, obj)


def _owners(meta: Json) -> list[str]:
    return [reference["uid"] for reference in meta.get("ownerReferences") or []]
