"""`manage.py informer`: follow every enabled cluster, one leader each, until told to stop."""

from __future__ import annotations

import signal
import threading
from typing import Any

import structlog
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection

from muster.clusters.models import Cluster
from muster.kube.connect import connection_key
from muster.kube.informer.leader import Leader

log = structlog.get_logger(__name__)

LOOK_SECONDS = 5.0


class Command(BaseCommand):
    """Follows clusters and writes what it sees."""

    help = "Follow every enabled cluster; one process leads per cluster, others stand by."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Run until SIGTERM or SIGINT. Clusters that are added, changed or disabled are noticed within seconds."""
        stopping = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        leaders: dict[int, tuple[tuple[object, ...], Leader]] = {}
        while not stopping.is_set():
            self._look(leaders)
            stopping.wait(LOOK_SECONDS)
        for _key, leader in leaders.values():
            leader.stop()
        for _key, leader in leaders.values():
            leader.join(timeout=5)

    def _look(self, leaders: dict[int, tuple[tuple[object, ...], Leader]]) -> None:
        """Start what is missing, restart what is set up otherwise by now, stop what is no longer wanted."""
        try:
            clusters = Cluster.objects.filter(enabled=True).prefetch_related("pools")
            wanted = {cluster.pk: _settings(cluster) for cluster in clusters}
        except DatabaseError as error:
            log.warning("informer.database", error=str(error).strip())
            connection.close()
            return
        for cluster_id, (key, leader) in list(leaders.items()):
            if wanted.get(cluster_id) != key or not leader.is_alive():
                leader.stop()
                del leaders[cluster_id]
        for cluster_id, key in wanted.items():
            if cluster_id not in leaders:
                leader = Leader(cluster_id)
                leaders[cluster_id] = (key, leader)
                leader.start()


def _settings(cluster: Cluster) -> tuple[object, ...]:
    """What a running informer has taken over from the row."""
    return (
        connection_key(cluster),
        str(cluster.levels),
        cluster.nvlink_label,
        # Which pool a node is in, and how its wiring is read, is decided when it is listed.
        *((pool.order, str(pool.selector), pool.topology) for pool in cluster.pools.all()),
    )
