"""Follow one kind of object: list it in pages, watch from there, list again when the server has forgotten where we were.

Resource versions are opaque: they are kept and given back, compared for nothing.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog

from muster.kube import errors
from muster.kube.gateway import Gateway
from muster.kube.informer.backoff import Backoff
from muster.kube.informer.messages import Fine, Gone, Listed, Message, Put, Trouble
from muster.kube.resources import Resource

log = structlog.get_logger(__name__)

REFUSED_MOST_SECONDS = 60.0


@dataclass(frozen=True)
class Timing:
    """How long a watch is asked for, at random between the two so that watches do not end together, and how long
    silence is borne before the connection counts as dead (bookmarks come about once a minute)."""

    watch_seconds: tuple[int, int] = (300, 600)
    read_seconds: float = 100.0
    first_wait: float = 0.2
    most_wait: float = 30.0


class Reflector(threading.Thread):
    """Tells `sink` all there is of `resource` and what changes, until stopped. Daemonic; `stop` returns at once."""

    #: Errors that mean that the cluster does not let us read; others pass by themselves and are not told.
    told: tuple[type[errors.KubeError], ...] = (errors.Unauthorized, errors.Forbidden, errors.Unreachable)

    def __init__(
        self, gateway: Gateway, resource: Resource, sink: Callable[[Message], None], *, timing: Timing | None = None
    ) -> None:
        super().__init__(name=f"reflect-{resource.plural}", daemon=True)
        self._gateway = gateway
        self._resource = resource
        self._sink = sink
        self._timing = timing or Timing()
        self._backoff = Backoff(self._timing.first_wait, self._timing.most_wait)
        self._uids: set[str] = set()
        self._version: str | None = None
        self._is_troubled = False
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Fall silent; a read under way ends with its own deadline."""
        self._stopping.set()

    def run(self) -> None:
        """List when there is no version to go on from, then watch; wait after each failure."""
        while not self._stopping.is_set():
            try:
                if self._version is None:
                    self._list()
                self._watch()
            except errors.Gone as error:
                self._version = None
                self._wait(error)
            except errors.KubeError as error:
                self._wait(error)

    def _list(self) -> None:
        """Tell every object, then those that are gone since the last list."""
        listed: set[str] = set()
        version = ""
        for items, version in self._gateway.pages(self._resource):  # noqa: B007 the last page's counts
            for item in items:
                uid = item["metadata"]["uid"]
                listed.add(uid)
                # At once: a list that breaks off has told of objects that may be gone when the next one begins.
                self._uids.add(uid)
                self._tell(Put(self._resource, uid, item))
        for uid in self._uids - listed:
            self._tell(Gone(self._resource, uid))
        self._uids, self._version = listed, version
        self._backoff.reset()
        self._works()
        self._tell(Listed(self._resource))

    def _watch(self) -> None:
        """Tell what changes until the stream ends; however it ends, the next one goes on from the last version."""
        assert self._version is not None
        before = self._version
        seconds = random.randint(*self._timing.watch_seconds)
        with self._gateway.watch(
            self._resource, self._version, seconds=seconds, read_seconds=self._timing.read_seconds
        ) as events:
            self._works()
            try:
                for event in events:
                    if self._stopping.is_set():
                        return
                    self._take(event)
            except errors.Unreachable as error:
                log.info("reflector.cut", kind=self._resource.plural, error=error.message)
        if self._version != before:
            self._backoff.reset()
        else:
            # A server that closes every watch at once must not be asked in a tight loop.
            self._stopping.wait(self._backoff.next())

    def _take(self, event: dict[str, Any]) -> None:
        item, verb = event["object"], event["type"]
        self._version = item["metadata"]["resourceVersion"]
        if verb == "BOOKMARK":
            return
        uid = item["metadata"]["uid"]
        if verb == "DELETED":
            self._uids.discard(uid)
            self._tell(Gone(self._resource, uid))
        else:
            self._uids.add(uid)
            self._tell(Put(self._resource, uid, item))

    def _tell(self, message: Message) -> None:
        if not self._stopping.is_set():
            self._sink(message)

    def _works(self) -> None:
        if self._is_troubled:
            self._is_troubled = False
            self._tell(Fine(self._resource))

    def _wait(self, error: errors.KubeError) -> None:
        """Wait as the error asks; say so where it means that the cluster cannot be read."""
        if isinstance(error, (errors.Unauthorized, errors.Forbidden)):
            seconds = self._backoff.next(most=REFUSED_MOST_SECONDS)
        elif isinstance(error, (errors.TooManyRequests, errors.ServerFault)):
            seconds = self._backoff.next(at_least=error.retry_after if error.details.get("retry_after") else 0.0)
        else:
            seconds = self._backoff.next()
        log.info("reflector.wait", kind=self._resource.plural, seconds=round(seconds, 2), error=error.message)
        if isinstance(error, self.told):
            self._is_troubled = True
            self._tell(Trouble(self._resource, error))
        self._stopping.wait(seconds)
