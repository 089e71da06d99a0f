"""All controllers behind one door."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from muster.emulator.controllers.garbage import GarbageCollector
from muster.emulator.controllers.lostpods import LostPods
from muster.emulator.controllers.namespaces import NamespaceFinisher
from muster.emulator.controllers.quotas import QuotaCounter
from muster.emulator.registry.resources import Resource
from muster.emulator.registry.store import Change, Key, Store, nothing
from muster.emulator.settings import Settings


class Controllers:
    """Starts the controllers and shows each of them every change, after the store is done with it."""

    def __init__(self, store: Store, settings: Settings):
        self._store = store
        self._tasks: set[asyncio.Task[None]] = set()
        self._garbage = GarbageCollector(store)
        self._namespaces = NamespaceFinisher(store, self.spawn)
        self._lost = LostPods(store, settings.pod_gc_seconds)
        self._quotas = QuotaCounter(store)
        self._stop_listening: Callable[[], None] = nothing

    def start(self) -> None:
        for resource, entry in list(self._store.everything()):
            self._see(Change("ADDED", resource, entry, None))
        self._stop_listening = self._store.listen(self._notice)

    async def stop(self) -> None:
        self._stop_listening()
        self._lost.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def note_deletion(self, resource: Resource, key: Key, propagation: str) -> None:
        """What a deletion that is about to be done says of its dependents."""
        self._garbage.note(resource, key, propagation)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _notice(self, change: Change) -> None:
        asyncio.get_running_loop().call_soon(self._see, change)

    def _see(self, change: Change) -> None:
        self._garbage.see(change)
        self._namespaces.see(change)
        self._lost.see(change)
        self._quotas.see(change)
