"""Following the Change outbox. Only the cycle numbers it, under the cluster's lock; preview follows the numbers."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.db import connection

from muster.common.choices import ChangeKind
from muster.placements.load.sql import fetch

# Under the lock nobody else numbers; a number given at insert time could commit after a higher one and be passed by.
_NUMBER = """
    UPDATE common_change AS c SET seq = fresh.seq
      FROM (SELECT id, row_number() OVER (ORDER BY id)
                       + coalesce((SELECT max(seq) FROM common_change WHERE cluster_id = %(cluster)s), 0) AS seq
              FROM common_change WHERE cluster_id = %(cluster)s AND seq IS NULL) AS fresh
     WHERE c.id = fresh.id"""
_LAST = "SELECT coalesce(max(seq), 0) FROM common_change WHERE cluster_id = %(cluster)s"
_SINCE = "SELECT kind, object_id, seq FROM common_change WHERE cluster_id = %(cluster)s AND seq > %(since)s"
_UNNUMBERED = "SELECT EXISTS (SELECT FROM common_change WHERE cluster_id = %(cluster)s AND seq IS NULL)"
# The newest stays: the next numbers count on from it.
_PRUNE = """
    DELETE FROM common_change AS c
     WHERE c.created_at < %(before)s
       AND c.seq < (SELECT max(seq) FROM common_change WHERE cluster_id = c.cluster_id)"""


@dataclass(frozen=True, slots=True)
class Named:
    """Rows to read again, by kind; `has_gap`: older Changes are no longer kept, so everything must be read."""

    seq: int
    nodes: tuple[int, ...] = ()
    jobs: tuple[int, ...] = ()
    has_queues: bool = False
    has_cluster: bool = False
    has_gap: bool = False


def number_changes(cluster_id: int) -> None:
    """Give the cluster's new Changes their numbers, in the order of their rows. Needs the cluster's lock."""
    with connection.cursor() as cursor:
        cursor.execute(_NUMBER, {"cluster": cluster_id})


def last_number(cluster_id: int) -> int:
    return int(fetch(_LAST, {"cluster": cluster_id})[0][0])


def changes_since(cluster_id: int, seq: int) -> Named:
    """What the numbered Changes after `seq` name."""
    rows = fetch(_SINCE, {"cluster": cluster_id, "since": seq})
    last = max((row[2] for row in rows), default=seq)
    kinds = {kind: tuple(sorted({row[1] for row in rows if row[0] == kind})) for kind in ChangeKind}
    return Named(
        seq=last,
        nodes=kinds[ChangeKind.NODE],
        jobs=kinds[ChangeKind.JOB],
        has_queues=bool(kinds[ChangeKind.QUEUE]),
        has_cluster=bool(kinds[ChangeKind.CLUSTER]),
        has_gap=last - seq != len(rows),
    )


def has_unnumbered(cluster_id: int) -> bool:
    """Whether something changed since the last numbering."""
    return bool(fetch(_UNNUMBERED, {"cluster": cluster_id})[0][0])


def prune_changes(before: dt.datetime) -> int:
    """Delete numbered Changes older than this; who has not followed them reads everything anew."""
    with connection.cursor() as cursor:
        cursor.execute(_PRUNE, {"before": before})
        return int(cursor.rowcount)
