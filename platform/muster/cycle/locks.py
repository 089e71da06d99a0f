"""The scheduling lock of a cluster: one cycle at a time, whoever runs it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import structlog
from django.db import connections

log = structlog.get_logger(__name__)

# The first half of our advisory keys, so that they meet nobody else's in a shared database.
LOCK_SPACE = 0x4D55_5354
_own = threading.local()


@contextmanager
def cluster_lock(cluster_id: int) -> Iterator[bool]:
    """Hold the cluster's lock for the block; yields False when another cycle has it.

    It is held by an open transaction on a connection of its own, outside any pool, so that it ends with the process whatever
    happens to it, and no transaction of ours that ends inside the block lets it go. Should that connection break, the epoch still
    fences the commit.
    """
    connection = _lock_connection()
    try:
        with connection.transaction():
            row = connection.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", (LOCK_SPACE, cluster_id)).fetchone()
            yield bool(row and row[0])
    finally:
        if connection.closed or connection.broken:
            _own.connection = None


def close_lock_connection() -> None:
    """Close this thread's lock connection, for a process that ends and for tests that drop their database."""
    connection = getattr(_own, "connection", None)
    if connection is not None:
        connection.close()
    _own.connection = None


def _lock_connection() -> psycopg.Connection:
    connection: psycopg.Connection | None = getattr(_own, "connection", None)
    if connection is None or connection.closed or not _is_alive(connection):
        connection = psycopg.connect(**_parameters(), autocommit=True)
        _own.connection = connection
    return connection


def _is_alive(connection: psycopg.Connection) -> bool:
    """Whether the server still knows us; after its restart a kept connection is dead without knowing."""
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError as error:
        log.warning("lock.reconnect", error=str(error))
        connection.close()
        return False
    return True


def _parameters() -> dict[str, Any]:
    """Django's own parameters without what only its wrapper understands."""
    given = connections["default"].get_connection_params()
    return {
        key: given[key] for key in ("dbname", "user", "password", "host", "port", "application_name") if key in given
    }
