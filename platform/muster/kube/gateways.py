"""One gateway per cluster and process, opened anew when the cluster's stored connection changes."""

from __future__ import annotations

import threading

from muster.clusters.models import Cluster
from muster.kube.connect import connection_key
from muster.kube.gateway import Gateway

_lock = threading.Lock()
_open: dict[int, tuple[tuple[object, ...], Gateway]] = {}


def gateway_to(cluster: Cluster) -> Gateway:
    """The process's gateway to `cluster`; BadConnection when its connection cannot be used."""
    key = connection_key(cluster)
    with _lock:
        kept = _open.get(cluster.pk)
        if kept and kept[0] == key:
            return kept[1]
        gateway = Gateway.of(cluster)
        _open[cluster.pk] = (key, gateway)
    if kept:
        kept[1].close()
    return gateway
