"""Device holds: given back when a pod is gone, put right when the node shows other devices than planned."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from django.db.models import F

from muster.clusters.models import Node
from muster.common.choices import ChangeKind, EventKind
from muster.common.events import map_topic, record_changes, record_events
from muster.placements.choices import HoldState
from muster.placements.models import DeviceHold

LIVE_HOLDS = (HoldState.NOMINATED, HoldState.HELD)


def release_holds(worker_ids: Iterable[int], now: dt.datetime) -> int:
    """End what these workers hold; the number of holds ended. Released ones are history and left alone."""
    worker_ids = list(worker_ids)
    if not worker_ids:
        return 0
    holds = DeviceHold.objects.filter(worker_id__in=worker_ids, state__in=LIVE_HOLDS)
    node_ids = set(holds.exclude(worker__node=None).values_list("worker__node_id", flat=True))
    ended = holds.update(state=HoldState.RELEASED, until=now)
    touch_nodes(node_ids)
    return ended


def touch_nodes(node_ids: Iterable[int]) -> None:
    """Raise the nodes' sched_rev, tell their schedulers and the pages that show them."""
    nodes = list(
        Node.objects.filter(pk__in=list(node_ids))
        .order_by("pk")
        .select_for_update(no_key=True)
        .values_list("pk", "cluster_id")
    )
    if not nodes:
        return
    Node.objects.filter(pk__in=[pk for pk, _ in nodes]).update(sched_rev=F("sched_rev") + 1)
    for cluster_id in {cluster_id for _, cluster_id in nodes}:
        here = [pk for pk, of_cluster in nodes if of_cluster == cluster_id]
        record_changes(cluster_id, ChangeKind.NODE, here)
        record_events(map_topic(cluster_id), EventKind.NODE, here)
