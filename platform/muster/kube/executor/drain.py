"""Draining intents: threads that claim one intent after another until none is due.

Two crews per cluster and process: a Stop takes as long as its grace, and must not keep a Placement waiting. A ring starts one
thread, which claims as much as there are free places and starts a thread for each further intent; an idle process has none.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import structlog
from django.db import DatabaseError, connection

from muster.clusters.models import Cluster
from muster.kube import errors
from muster.kube.executor.others import run_order, run_orphan
from muster.kube.executor.placement import PlacementRun
from muster.kube.executor.plugins.registry import MissingPlugin, resolve
from muster.kube.executor.stop import run_stop
from muster.kube.gateway import Gateway
from muster.kube.gateways import gateway_to
from muster.placements import actions
from muster.placements.models import Intent, NodeOrder, Orphan, Placement, Stop

log = structlog.get_logger(__name__)

PLACERS = 8
STOPPERS = 16


def _run_placement(placement: Placement, gateway: Gateway) -> None:
    PlacementRun(placement, gateway, resolve(placement.cluster.profile)).run()


RUNNERS: Mapping[type[Intent], Callable[[Any, Gateway], None]] = {
    Placement: _run_placement,
    Stop: run_stop,
    NodeOrder: run_order,
    Orphan: run_orphan,
}


class Crew:
    """The threads that drain some kinds of intents of one cluster."""

    def __init__(self, cluster_id: int, kinds: Sequence[type[Intent]], most: int) -> None:
        self._cluster_id = cluster_id
        self._kinds = kinds
        self._most = most
        self._lock = threading.Lock()
        self._running = 0
        self._rings = 0

    def ring(self) -> None:
        """There may be something to do."""
        with self._lock:
            self._rings += 1
        if self._take_place():
            self._start()

    def wait(self, seconds: float) -> bool:
        """Whether everything due was done within so many seconds; for tests and for a clean stop."""
        idle = threading.Event()
        for _ in range(int(seconds / 0.01)):
            with self._lock:
                if not self._running:
                    return True
            idle.wait(0.01)
        return False

    def _take_place(self) -> bool:
        with self._lock:
            if self._running >= self._most:
                return False
            self._running += 1
            return True

    def _start(self, intent: Intent | None = None) -> None:
        threading.Thread(target=self._drain, args=[intent], name=f"drain-{self._cluster_id}", daemon=True).start()

    def _drain(self, intent: Intent | None) -> None:
        """In a thread: do `intent`, then claim further ones until none is due."""
        try:
            if intent is not None:
                self._do(intent)
            while self._once():
                pass
        finally:
            connection.close()

    def _once(self) -> bool:
        """Claim what is due and do it; False when this thread has ended."""
        with self._lock:
            rings, free = self._rings, self._most - self._running
        claimed = self._claim(1 + free)
        if claimed:
            self._hand_on(claimed[1:])
            self._do(claimed[0])
            return True
        with self._lock:
            # A ring that came while we looked may mean an intent we did not see.
            if rings != self._rings:
                return True
            self._running -= 1
            return False

    def _hand_on(self, intents: Sequence[Intent]) -> None:
        """A thread for each; those for whom there is no place any more are given back."""
        placed = [intent for intent in intents if self._take_place()]
        for intent in placed:
            self._start(intent)
        if len(placed) < len(intents):
            actions.give_back_intents([intent for intent in intents if intent not in placed])

    def _claim(self, limit: int) -> list[Intent]:
        try:
            return actions.claim_intents(self._cluster_id, self._kinds, limit=limit)
        except DatabaseError as error:
            log.warning("claim.failed", cluster=self._cluster_id, error=str(error))
            connection.close()
            return []

    def _do(self, intent: Intent) -> None:
        """Whatever goes wrong concerns this intent alone: it is given back with what happened, or its lease runs out."""
        told = {"intent": type(intent).__name__, "pk": intent.pk}
        try:
            RUNNERS[type(intent)](intent, gateway_to(intent.cluster))
        except actions.LeaseLost:
            log.info("intent.lost", **told)
        except (errors.KubeError, MissingPlugin) as error:
            self._retry(intent, error.message)
        except DatabaseError as error:
            log.warning("intent.database", error=str(error), **told)
            connection.close()
        except Exception as error:
            # A defect must not end the thread that others wait for; it is told, and tried again with back-off.
            log.exception("intent.defect", **told)
            self._retry(intent, f"{type(error).__name__}: {error}")

    def _retry(self, intent: Intent, message: str) -> None:
        try:
            actions.retry_intent(intent, message)
        except actions.LeaseLost:
            log.info("intent.lost", intent=type(intent).__name__, pk=intent.pk)
        except DatabaseError as error:
            log.warning("intent.unreturned", pk=intent.pk, error=str(error))
            connection.close()


@functools.cache
def crews_of(cluster_id: int) -> tuple[Crew, ...]:
    """The process's crews for one cluster."""
    return (
        Crew(cluster_id, (Placement, NodeOrder), PLACERS),
        Crew(cluster_id, (Stop, Orphan), STOPPERS),
    )


def drain(cluster_id: int) -> None:
    """Start on whatever is due in this cluster; returns at once."""
    for crew in crews_of(cluster_id):
        crew.ring()


def drain_all() -> None:
    """`drain` for every enabled cluster."""
    for cluster_id in Cluster.objects.filter(enabled=True).values_list("pk", flat=True):
        drain(cluster_id)
