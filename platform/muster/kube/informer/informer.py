"""Following one cluster: reflectors fill a queue, one thread empties it into rows."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from muster.clusters import observe
from muster.clusters.models import Cluster
from muster.kube import errors
from muster.kube.gateway import Gateway
from muster.kube.informer.apply import fold
from muster.kube.informer.messages import Fine, Gone, Listed, Message, Put, Trouble
from muster.kube.informer.reconcile import clean_up, reconcile
from muster.kube.informer.reflector import Reflector, Timing
from muster.kube.informer.slices import SliceReflector
from muster.kube.informer.view import View
from muster.kube.resources import NODES, PODS, SERVICES, SLICES

log = structlog.get_logger(__name__)

FOLLOWED = (NODES, SERVICES, PODS)
MOST_AT_ONCE = 2000


@dataclass(frozen=True)
class Periods:
    """Seconds between the things that happen regardless of messages."""

    tick: float = 0.5
    clean_up: float = 2.0
    heartbeat: float = 10.0
    reconcile: float = 60.0


@dataclass
class Informer:
    """Everything of one cluster, in the thread that calls `run`; the database connection is that thread's."""

    cluster: Cluster
    gateway: Gateway
    timing: Timing = field(default_factory=Timing)
    periods: Periods = field(default_factory=Periods)
    view: View = field(default_factory=View)
    passes: int = 0

    def __post_init__(self) -> None:
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._reflectors = [
            Reflector(self.gateway, resource, self._messages.put, timing=self.timing) for resource in FOLLOWED
        ]
        self._slices = SliceReflector(self.gateway, self._messages.put, timing=self.timing)
        self._unlisted = {resource.plural for resource in FOLLOWED}
        self._is_following = False
        self._troubles: dict[str, errors.KubeError] = {}
        self._version = ""
        self._due: dict[Callable[[], None], float] = {}

    @property
    def waiting(self) -> int:
        """Messages that have come and are not in rows yet."""
        return self._messages.qsize()

    def start(self) -> None:
        """Begin to follow; what comes is kept until `run`."""
        self._slices.start()

    def run(self, stopping: threading.Event) -> None:
        """Write what comes until stopped. Database errors end it: the lost connection held the lock that made us the leader."""
        try:
            while not stopping.is_set():
                self._take(self._drain())
                self._tick()
        finally:
            for reflector in (self._slices, *self._reflectors):
                reflector.stop()

    def _drain(self) -> list[Message]:
        """What has come: waits for the first message, then takes what else is there."""
        messages: list[Message] = []
        with contextlib.suppress(queue.Empty):
            messages.append(self._messages.get(timeout=self.periods.tick))
            while len(messages) < MOST_AT_ONCE:
                messages.append(self._messages.get_nowait())
        return messages

    def _take(self, messages: list[Message]) -> None:
        told = [message for message in messages if isinstance(message, (Put, Gone))]
        if told and fold(self.cluster, self.view, told).apply():
            clean_up(self.cluster, self.view)
        for message in messages:
            if message.resource == SLICES:
                self._hear_of_slices(message)
            elif isinstance(message, Trouble):
                self._troubles[message.resource.plural] = message.error
                self._say_status()
            elif isinstance(message, Fine):
                self._troubles.pop(message.resource.plural, None)
                self._say_status()
            elif isinstance(message, Listed):
                self._unlisted.discard(message.resource.plural)
                # What was lost while nobody looked shows only against a full list.
                self._due.pop(self._reconcile, None)
                self._due.pop(self._say_status, None)

    def _hear_of_slices(self, message: Message) -> None:
        """Nodes are read with their slices, or every start would take the hardware for another for a moment. They wait for the
        first word only: without slices a node has other evidence."""
        if isinstance(message, (Listed, Trouble)) and not self._is_following:
            self._is_following = True
            for reflector in self._reflectors:
                reflector.start()

    def _tick(self) -> None:
        for deed, period in (
            (self._say_status, self.periods.heartbeat),
            (self._clean_up, self.periods.clean_up),
            (self._reconcile, self.periods.reconcile),
        ):
            if time.monotonic() >= self._due.get(deed, 0.0):
                deed()
                self._due[deed] = time.monotonic() + period

    def _say_status(self) -> None:
        """Also the heartbeat: a leader whose connection is gone learns it here."""
        trouble = next(iter(self._troubles.values()), None)
        if trouble is None and not self._version and not self._unlisted:
            self._ask_version()
        if trouble is not None:
            observe.observe_status(self.cluster, is_reachable=False, message=trouble.message)
        elif not self._unlisted:
            observe.observe_status(self.cluster, is_reachable=True, version=self._version)

    def _ask_version(self) -> None:
        try:
            self._version = self.gateway.version()
        except errors.KubeError as error:
            log.info("version.unread", cluster=self.cluster.name, error=error.message)

    def _clean_up(self) -> None:
        if not self._unlisted:
            clean_up(self.cluster, self.view)

    def _reconcile(self) -> None:
        """Only once everything was listed: half a view would take the other half for gone."""
        if self._unlisted or self._troubles:
            return
        try:
            reconcile(self.cluster, self.gateway, self.view)
            self.passes += 1
        except errors.KubeError as error:
            log.info("reconcile.put_off", cluster=self.cluster.name, error=error.message)
