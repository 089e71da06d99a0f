"""Objects in memory, one rising resourceVersion, and the changes that watches replay.

An Entry is never changed: whoever wants another object decodes a copy, changes that, and hands it back.
The encoded form is made once per version and shared by every list and watch.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import orjson

from muster.emulator.registry.errors import Json
from muster.emulator.registry.resources import STORED, Resource

Key = tuple[str, str]  # (namespace, or "" for cluster-scoped objects; name)


def key_of(obj: Json) -> Key:
    meta = obj["metadata"]
    return (meta.get("namespace", ""), meta["name"])


@dataclass(frozen=True, slots=True)
class Entry:
    """One version of one object, without kind and apiVersion. `obj` is read-only by agreement."""

    obj: Json
    raw: bytes  # encoded `obj`
    rv: int

    def copy(self) -> Json:
        """A deep copy that may be changed; decoding is the fastest there is."""
        copied: Json = orjson.loads(self.raw)
        return copied

    def item(self, resource: Resource) -> bytes:
        """The object as JSON, as a list of this resource has it: without kind and apiVersion."""
        return orjson.dumps(resource.codec.from_stored(self.obj)) if resource.codec else self.raw

    def encoded(self, resource: Resource) -> bytes:
        """The whole object as JSON, with kind and apiVersion."""
        return resource.head + self.item(resource)[1:]


@dataclass(slots=True)
class Change:
    """What happened to one object: ADDED, MODIFIED or DELETED, with the version before."""

    verb: str
    resource: Resource
    entry: Entry
    before: Entry | None
    _lines: dict[str, bytes] = field(default_factory=dict)

    @property
    def rv(self) -> int:
        return self.entry.rv

    def line(self, verb: str, resource: Resource) -> bytes:
        """The watch event, newline included; encoded once for all watchers of the stored form."""
        if resource.codec is not None:
            return watch_line(verb, self.entry.encoded(resource))
        if verb not in self._lines:
            self._lines[verb] = watch_line(verb, self.entry.encoded(self.resource))
        return self._lines[verb]


def watch_line(verb: str, encoded: bytes) -> bytes:
    return b'{"type":"' + verb.encode() + b'","object":' + encoded + b"}\n"


def nothing() -> None:
    """How to stop listening before one has begun."""


class Store:
    """All objects of the cluster. Everything runs on one event loop, so no method locks or awaits."""

    def __init__(self, watch_cache: int, first_rv: int = 1000):
        self.rv = first_rv
        self._tables: dict[str, dict[Key, Entry]] = {resource.key: {} for resource in STORED}
        self._history: dict[str, deque[Change]] = {resource.key: deque() for resource in STORED}
        self._watch_cache = watch_cache
        #: Per resource the newest change that is no longer kept: an older watch must list anew.
        self._floor: dict[str, int] = dict.fromkeys(self._tables, 0)
        self._listeners: list[Callable[[Change], None]] = []

    def listen(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call `listener` with each change, at once and in order; returns how to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def get(self, resource: Resource, key: Key) -> Entry:
        entry = self.find(resource, key)
        if entry is None:
            raise resource.not_found(key[1])
        return entry

    def find(self, resource: Resource, key: Key) -> Entry | None:
        return self._tables[resource.key].get(key)

    def entries(self, resource: Resource, namespace: str | None = None) -> list[Entry]:
        """All objects, of one namespace if named, in the order of the server's keys."""
        table = self._tables[resource.key]
        keys = sorted(table) if namespace is None else sorted(key for key in table if key[0] == namespace)
        return [table[key] for key in keys]

    def everything(self) -> Iterator[tuple[Resource, Entry]]:
        for resource in STORED:
            for entry in self._tables[resource.key].values():
                yield resource, entry

    def create(self, resource: Resource, obj: Json) -> Entry:
        key = key_of(obj)
        if key in self._tables[resource.key]:
            raise resource.already_exists(key[1])
        return self._put(resource, key, obj, None)

    def update(self, resource: Resource, obj: Json) -> Entry:
        """Replace an object. One that equals what is stored keeps its version and tells nobody."""
        key = key_of(obj)
        before = self.get(resource, key)
        obj["metadata"]["resourceVersion"] = str(before.rv)
        if obj == before.obj:
            return before
        return self._put(resource, key, obj, before)

    def remove(self, resource: Resource, key: Key, final: Json | None = None) -> Entry:
        """Take an object out; `final` is its last form, as watchers see it in DELETED."""
        before = self.get(resource, key)
        entry = self._numbered(final if final is not None else before.copy())
        del self._tables[resource.key][key]
        self._publish(Change("DELETED", resource, entry, before))
        return entry

    def restore(self, resource: Resource, obj: Json) -> None:
        """Put back an object from the state file, with the version it had."""
        raw = orjson.dumps(obj)
        self._tables[resource.key][key_of(obj)] = Entry(obj, raw, int(obj["metadata"]["resourceVersion"]))

    def since(self, resource: Resource, rv: int) -> list[Change] | None:
        """The changes after `rv`, oldest first; None when some of them are forgotten."""
        if rv < self._floor[resource.key]:
            return None
        history = self._history[resource.key]
        found: list[Change] = []
        for change in reversed(history):
            if change.rv <= rv:
                break
            found.append(change)
        return found[::-1]

    def compact(self) -> None:
        """Forget all history: every watch older than now must list anew."""
        for key, history in self._history.items():
            history.clear()
            self._floor[key] = self.rv

    def _put(self, resource: Resource, key: Key, obj: Json, before: Entry | None) -> Entry:
        entry = self._numbered(obj)
        self._tables[resource.key][key] = entry
        self._publish(Change("MODIFIED" if before else "ADDED", resource, entry, before))
        return entry

    def _numbered(self, obj: Json) -> Entry:
        self.rv += 1
        obj["metadata"]["resourceVersion"] = str(self.rv)
        return Entry(obj, orjson.dumps(obj), self.rv)

    def _publish(self, change: Change) -> None:
        history = self._history[change.resource.key]
        history.append(change)
        if len(history) > self._watch_cache:
            self._floor[change.resource.key] = history.popleft().rv
        for listener in tuple(self._listeners):
            listener(change)
