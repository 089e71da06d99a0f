"""The objects in a file, so that a restart loses nothing.

Written whole, beside the old one and then moved over it; at most once per `state_delay`.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable
from pathlib import Path

import orjson

from muster.emulator.registry.errors import Json
from muster.emulator.registry.resources import BY_KEY
from muster.emulator.registry.store import Change, Store, nothing
from muster.emulator.settings import Settings

_log = logging.getLogger(__name__)
FORMAT = 1


class StateFile:
    """Follows the store and writes it down."""

    def __init__(self, store: Store, settings: Settings):
        if settings.state is None:
            raise ValueError("a state file needs a path")
        self._store = store
        self._path: Path = settings.state
        self._delay = settings.state_delay
        self._dirty = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stop_listening: Callable[[], None] = nothing

    def load(self) -> bool:
        """Fill the store; False when there is no file yet. One that cannot be read is an error: nothing is lost."""
        try:
            found: Json = orjson.loads(self._path.read_bytes())
        except FileNotFoundError:
            return False
        except orjson.JSONDecodeError as error:
            raise ValueError(f"the state file {self._path} cannot be read: {error}") from error
        if found.get("format") != FORMAT:
            raise ValueError(f"the state file {self._path} has format {found.get('format')}, not {FORMAT}")
        for key, objects in found["objects"].items():
            for obj in objects:
                self._store.restore(BY_KEY[key], obj)
        self._store.rv = found["resourceVersion"]
        # Watches of the time before cannot be resumed: their history is gone.
        self._store.compact()
        return True

    def start(self) -> None:
        self._stop_listening = self._store.listen(self._notice)
        self._dirty.set()
        self._task = asyncio.create_task(self._keep_writing())

    async def stop(self) -> None:
        self._stop_listening()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        _replace(self._path, self._encode())

    def _notice(self, change: Change) -> None:
        self._dirty.set()

    async def _keep_writing(self) -> None:
        while True:
            await self._dirty.wait()
            await asyncio.sleep(self._delay)
            self._dirty.clear()
            try:
                await asyncio.to_thread(_replace, self._path, self._encode())
            except OSError as error:
                _log.error("cannot write the state file %s: %s", self._path, error)
                self._dirty.set()

    def _encode(self) -> bytes:
        objects: dict[str, list[orjson.Fragment]] = {}
        for resource, entry in self._store.everything():
            objects.setdefault(resource.key, []).append(orjson.Fragment(entry.raw))
        return orjson.dumps({"format": FORMAT, "resourceVersion": self._store.rv, "objects": objects})


def _replace(path: Path, content: bytes) -> None:
    """Write a file so that a reader finds the old one or the new one, never half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".new")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
