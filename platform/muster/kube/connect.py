"""From a Cluster row to a pool of connections. The only module that imports the official client (3 s): at its first use."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import urllib3
import yaml

from muster.clusters.choices import Connection
from muster.clusters.models import Cluster
from muster.common.errors import MusterError
from muster.common.secrets import unseal
from muster.kube.errors import BadConnection

if TYPE_CHECKING:
    from kubernetes.client import Configuration

# Half-open connections are noticed within about a minute even where a read has no deadline of its own.
KEEPALIVE: list[tuple[int, int, int]] = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
        if hasattr(socket, name)
    ),
]


@dataclass(frozen=True)
class Link:
    """How one cluster is reached: its address, its pool, and who signs each request."""

    host: str
    pool: urllib3.PoolManager
    configuration: Any

    def authorization(self) -> dict[str, str]:
        """The header that names us; tokens of files and exec plugins are renewed here by the client's own hook."""
        header = self.configuration.auth_settings().get("BearerToken")
        return {"authorization": header["value"]} if header and header["value"] else {}


def connection_key(cluster: Cluster) -> tuple[object, ...]:
    """Differs when the cluster's stored connection does, be it that its kubeconfig was rewritten where it lies."""
    return cluster.connection, cluster.kubeconfig_path, bytes(cluster.kubeconfig_sealed or b""), _written(cluster)


def _written(cluster: Cluster) -> tuple[int, int] | None:
    if cluster.connection != Connection.FILE:
        return None
    try:
        found = Path(cluster.kubeconfig_path).expanduser().stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def link_to(cluster: Cluster, *, connections: int) -> Link:
    """Open the cluster's stored connection with room for `connections` requests at once; BadConnection says what is wrong."""
    from kubernetes.client.rest import RESTClientObject
    from kubernetes.config import ConfigException

    try:
        configuration = _configure(cluster)
        configuration.connection_pool_maxsize = connections
        # Every retry is ours: urllib3 would repeat a POST whose answer was lost.
        configuration.retries = False
        configuration.socket_options = KEEPALIVE
        pool = RESTClientObject(configuration).pool_manager
    except (ConfigException, MusterError, OSError, ValueError, TypeError, KeyError, yaml.YAMLError) as error:
        raise BadConnection(f"The connection of cluster {cluster.name} cannot be used: {_words(error)}") from error
    return Link(configuration.host.rstrip("/"), pool, configuration)


def _configure(cluster: Cluster) -> Configuration:
    """The official client's configuration, which knows certificates, tokens, exec plugins and proxies."""
    from kubernetes.client import Configuration
    from kubernetes.config import load_incluster_config, load_kube_config, load_kube_config_from_dict

    configuration = Configuration()
    if cluster.connection == Connection.IN_CLUSTER:
        load_incluster_config(client_configuration=configuration)
    elif cluster.connection == Connection.INLINE:
        content = yaml.safe_load(unseal(bytes(cluster.kubeconfig_sealed or b"")))
        load_kube_config_from_dict(content, client_configuration=configuration, persist_config=False)
    else:
        load_kube_config(
            str(Path(cluster.kubeconfig_path).expanduser()), client_configuration=configuration, persist_config=False
        )
    return configuration


def _words(error: Exception) -> str:
    return str(error).strip() or type(error).__name__
