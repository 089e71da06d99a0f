"""The namespace controller: a namespace that is being deleted is emptied, then removed."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from muster.emulator.registry.delete import delete
from muster.emulator.registry.errors import ApiError
from muster.emulator.registry.resources import NAMESPACES, STORED
from muster.emulator.registry.store import Change, Store, key_of

#: Seconds between two looks whether a namespace is empty.
PAUSE = 0.1


class NamespaceFinisher:
    def __init__(self, store: Store, spawn: Callable[[Coroutine[Any, Any, None]], None]):
        self._store = store
        self._spawn = spawn
        self._emptying: set[str] = set()

    def see(self, change: Change) -> None:
        if change.resource is not NAMESPACES or change.verb == "DELETED":
            return
        meta = change.entry.obj["metadata"]
        if meta.get("deletionTimestamp") and meta["name"] not in self._emptying:
            self._emptying.add(meta["name"])
            self._spawn(self._finish(meta["name"]))

    async def _finish(self, name: str) -> None:
        """Delete what is in it, wait for what takes its time, then remove it."""
        try:
            while self._empty(name):
                await asyncio.sleep(PAUSE)
            with contextlib.suppress(ApiError):
                self._store.remove(NAMESPACES, ("", name))
        finally:
            self._emptying.discard(name)

    def _empty(self, name: str) -> int:
        """Ask for the deletion of all that is left; how much that was."""
        left = 0
        for resource in STORED:
            if not resource.namespaced:
                continue
            for entry in self._store.entries(resource, name):
                left += 1
                if not entry.obj["metadata"].get("deletionTimestamp"):
                    with contextlib.suppress(ApiError):
                        delete(self._store, resource, key_of(entry.obj))
        return left
