"""One informer per cluster, others stand by: a session lock on the very connection that writes.

Losing that connection is losing the lock, and with it the means to write: two leaders cannot both be heard.
"""

from __future__ import annotations

import threading

import structlog
from django.db import DatabaseError, InterfaceError, connection

from muster.clusters import observe
from muster.clusters.models import Cluster
from muster.common.errors import MusterError
from muster.kube.gateway import Gateway
from muster.kube.informer.informer import Informer, Periods
from muster.kube.informer.reflector import Timing

log = structlog.get_logger(__name__)

#: First half of the lock's key; the cluster is the second. ("info" in ASCII)
LOCK_CLASS = 0x696E666F
STANDBY_SECONDS = 2.0
RECONNECT_SECONDS = 5.0


class Leader(threading.Thread):
    """Stands for the leadership of one cluster, and follows it while it has it."""

    def __init__(self, cluster_id: int, *, timing: Timing | None = None, periods: Periods | None = None) -> None:
        super().__init__(name=f"informer-{cluster_id}", daemon=True)
        self._cluster_id = cluster_id
        self._timing = timing or Timing()
        self._periods = periods or Periods()
        self._stopping = threading.Event()
        self.informer: Informer | None = None

    def stop(self) -> None:
        """End soon."""
        self._stopping.set()

    def run(self) -> None:
        """Stand by, lead, and begin again after whatever went wrong with the database."""
        while not self._stopping.is_set():
            try:
                if self._is_elected():
                    self._lead()
            except (DatabaseError, InterfaceError) as error:
                log.warning("informer.database", cluster=self._cluster_id, error=str(error).strip())
            except Exception:
                # A defect met in one object must not leave the cluster unwatched for good; it is told with its trace.
                log.exception("informer.defect", cluster=self._cluster_id)
            finally:
                connection.close()
            self._stopping.wait(STANDBY_SECONDS)

    def _is_elected(self) -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK_CLASS, self._cluster_id])
            return bool(cursor.fetchone()[0])

    def _lead(self) -> None:
        cluster = Cluster.objects.get(pk=self._cluster_id)
        try:
            gateway = Gateway.of(cluster, connections=8)
        except MusterError as error:
            observe.observe_status(cluster, is_reachable=False, message=error.message)
            self._stopping.wait(RECONNECT_SECONDS)
            return
        log.info("informer.leads", cluster=cluster.name)
        self.informer = Informer(cluster, gateway, self._timing, self._periods)
        self.informer.start()
        try:
            self.informer.run(self._stopping)
        finally:
            gateway.close()
