"""Watches: replayed from the history, then live; ended, cut, stalled or expired on order."""

import asyncio
import random
from collections import deque

import orjson
from aiohttp import web

from muster.emulator.api.lists import read_version
from muster.emulator.api.routes import Target, flag, whole_number
from muster.emulator.registry.errors import ApiError, Json
from muster.emulator.registry.resources import Resource
from muster.emulator.registry.selectors import Matcher, matcher
from muster.emulator.registry.store import Change, Entry, Store, watch_line

#: A watch that names no timeout ends after this many seconds and up to twice as many.
DEFAULT_TIMEOUT = 1800
#: A client that lets this many lines pile up is cut off, as the server does.
MOST_PENDING = 50_000


class Watch:
    """One watch request: which changes it shows, and the lines not yet sent."""

    def __init__(self, store: Store, target: Target, query: Json, bookmark_seconds: float):
        self.target = target
        self.resource: Resource = target.resource
        self.bookmarks = flag(query, "allowWatchBookmarks")
        self.bookmark_seconds = bookmark_seconds
        self.orders: deque[str] = deque()  # cut | cut-mid-line | stall | expire
        self._store = store
        self._namespace = target.namespace
        self._matches: Matcher | None = matcher(
            self.resource, query.get("labelSelector", ""), query.get("fieldSelector", "")
        )
        self._name = target.name
        self._lines: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._from = 0
        self._begin(query)

    def _begin(self, query: Json) -> None:
        text = query.get("resourceVersion", "")
        initial = flag(query, "sendInitialEvents")
        if initial or text in ("", "0"):
            self._add_existing(with_mark=initial)
            self._from = self._store.rv
            return
        self._from = read_version(text)
        missed = self._store.since(self.resource, self._from)
        if missed is None:
            self._lines.append(expired_line(self._from, self._store.rv))
            self.orders.append("end")
            return
        for change in missed:
            self._show(change)

    def _add_existing(self, *, with_mark: bool) -> None:
        for entry in self._store.entries(self.resource, self._namespace):
            if self._shows(entry):
                self._lines.append(watch_line("ADDED", entry.encoded(self.resource)))
        if with_mark and self.bookmarks:
            self._lines.append(self.bookmark({"annotations": {"k8s.io/initial-events-end": "true"}}))

    def notice(self, change: Change) -> None:
        """A listener of the store."""
        if change.resource.key != self.resource.key or change.rv <= self._from:
            return
        self._show(change)
        if self._lines:
            self._wake.set()

    def order(self, what: str) -> None:
        self.orders.append(what)
        self._wake.set()

    def _show(self, change: Change) -> None:
        """Turn a change into what this selector sees of it: entering is ADDED, leaving is DELETED."""
        before = change.before is not None and self._shows(change.before)
        after = change.verb != "DELETED" and self._shows(change.entry)
        if before and after:
            self._lines.append(change.line("MODIFIED", self.resource))
        elif after:
            self._lines.append(change.line("ADDED", self.resource))
        elif before:
            self._lines.append(change.line("DELETED", self.resource))

    def _shows(self, entry: Entry) -> bool:
        meta = entry.obj["metadata"]
        if self._namespace is not None and meta.get("namespace") != self._namespace:
            return False
        if self._name is not None and meta["name"] != self._name:
            return False
        return self._matches is None or self._matches(entry.obj)

    def bookmark(self, meta: Json | None = None) -> bytes:
        body = {
            "kind": self.resource.kind,
            "apiVersion": self.resource.api_version,
            "metadata": {"resourceVersion": str(self._store.rv), **(meta or {})},
        }
        return watch_line("BOOKMARK", orjson.dumps(body))

    async def stream(self, answer: web.StreamResponse, timeout: float) -> None:
        """Write lines until the timeout, an order to end, or the client's leaving."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        next_mark = loop.time() + self.bookmark_seconds
        while True:
            if self._lines:
                chunk = b"".join(self._lines)
                self._lines.clear()
                await answer.write(chunk)
            if self.orders and await self._obey(answer, self.orders.popleft()):
                return
            due = min(end, next_mark) if self.bookmarks else end
            await self._wait(due - loop.time())
            if loop.time() >= end or len(self._lines) > MOST_PENDING:
                return
            if self.bookmarks and loop.time() >= next_mark:
                next_mark = loop.time() + self.bookmark_seconds
                self._lines.append(self.bookmark())

    async def _wait(self, seconds: float) -> None:
        if self._lines or self.orders:
            return
        self._wake.clear()
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _obey(self, answer: web.StreamResponse, order: str) -> bool:
        """Do what the control endpoint ordered; True when the watch is over."""
        if order == "stall":
            await asyncio.Event().wait()  # until the client gives up
        if order == "expire":
            await answer.write(expired_line(1, self._store.rv))
        if order == "cut-mid-line":
            line = self.bookmark()
            await answer.write(line[: len(line) // 2])
        if order.startswith("cut"):
            raise CutConnection
        return True


class CutConnection(Exception):
    """Drop the connection without an orderly end."""


def expired_line(asked: int, current: int) -> bytes:
    error = ApiError(410, "Expired", f"too old resource version: {asked} ({current})")
    return watch_line("ERROR", orjson.dumps(error.status()))


class Watches:
    """All open watches."""

    def __init__(self, store: Store, bookmark_seconds: float):
        self._store = store
        self._bookmark_seconds = bookmark_seconds
        self.open: set[Watch] = set()

    async def serve(self, request: web.Request, target: Target, query: Json) -> web.StreamResponse:
        watch = Watch(self._store, target, query, self._bookmark_seconds)
        timeout = whole_number(query, "timeoutSeconds") or DEFAULT_TIMEOUT * (1 + random.random())
        stop = self._store.listen(watch.notice)
        self.open.add(watch)
        answer = web.StreamResponse(headers={"Content-Type": "application/json"})
        answer.enable_chunked_encoding()
        try:
            await answer.prepare(request)
            await watch.stream(answer, timeout)
            await answer.write_eof()
        except CutConnection:
            if request.transport is not None:
                request.transport.close()
        except ConnectionResetError:
            pass
        finally:
            stop()
            self.open.discard(watch)
        return answer

    def order(self, what: str, resource: str | None = None) -> int:
        """Tell all watches, or those of one resource, to end in some way; how many were told."""
        told = [watch for watch in self.open if resource in (None, watch.resource.key)]
        for watch in told:
            watch.order(what)
        return len(told)
