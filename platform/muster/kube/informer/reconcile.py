"""Comparing the cluster with the rows, repairing, counting. It reads the cluster anew: a stalled watch must not fool it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import structlog
from prometheus_client import Counter, Gauge

from muster.clusters import observe
from muster.clusters.models import Cluster
from muster.common import clock
from muster.kube.gateway import Gateway
from muster.kube.informer import faults
from muster.kube.informer.pods import attempt_of
from muster.kube.informer.view import Ours, View, orphan
from muster.kube.manifests.names import ATTEMPT_LABEL
from muster.kube.resources import PODS, SERVICES, Resource
from muster.placements import actions
from muster.placements.actions import OrphanSeen

log = structlog.get_logger(__name__)

DRIFT = Gauge(
    "muster_drift",
    "Differences between cluster and rows in the reconciler's last pass",
    ["cluster"],
    multiprocess_mode="mostrecent",
)
REPAIRS = Counter("muster_repairs_total", "Differences the reconciler has repaired", ["cluster"])

Json = dict[str, Any]


@dataclass(frozen=True)
class Pass:
    """What one pass found."""

    orphans: int
    attempts: int
    nodes: int

    @property
    def drift(self) -> int:
        """How far cluster and rows were apart."""
        return self.orphans + self.attempts + self.nodes


def reconcile(cluster: Cluster, gateway: Gateway, view: View) -> Pass:
    """One pass. `view` tells the nodes that exist; pods and Services are listed here."""
    listed_at = clock.now()
    pods, services = _list(gateway, PODS), _list(gateway, SERVICES)
    attempts = actions.attempts_without_pods(cluster.pk, _there_or_awaited(pods, view), listed_at=listed_at)
    # Read after the list: whatever was listed had its attempt's row before.
    orphans = actions.record_orphans(cluster.pk, _orphans(pods, services, actions.live_attempt_ids(cluster.pk)))
    gone = observe.present_names(cluster) - set(view.nodes)
    nodes = observe.observe_gone(cluster, gone) if gone else set()
    faults.fault_all(cluster)
    actions.settle_live(cluster.pk)
    found = Pass(orphans=orphans, attempts=len(attempts), nodes=len(nodes))
    _report(cluster, found)
    return found


def _there_or_awaited(pods: list[Json], view: View) -> set[str]:
    """Uids of the pods listed, and of those whose end the watch is about to tell.

    A list runs ahead of the watch: taken at its word, it would lose the exit code and last message of a pod that ended a moment
    ago. A watch that still says nothing by the next pass is not waited for.
    """
    listed = {pod["metadata"]["uid"] for pod in pods}
    unlisted = set(view.pods) - listed
    awaited = unlisted - view.unlisted
    view.unlisted = unlisted
    return listed | awaited


def clean_up(cluster: Cluster, view: View) -> int:
    """Order the Services of ended attempts deleted, and with them their pods: the usual end of things, no drift."""
    owned = {ours.attempt_id for ours in view.services.values()}
    if not owned:
        return 0
    ended = owned - actions.live_attempt_ids(cluster.pk)
    seen = [orphan("Service", uid, ours) for uid, ours in view.services.items() if ours.attempt_id in ended]
    return actions.record_orphans(cluster.pk, seen) if seen else 0


def _list(gateway: Gateway, resource: Resource) -> list[Json]:
    pages = gateway.pages(resource, labelSelector=ATTEMPT_LABEL)
    return [item for items, _version in pages for item in items]


def _orphans(pods: list[Json], services: list[Json], live: set[int]) -> list[OrphanSeen]:
    """Objects without a live attempt. Pods that hang on a Service named here go with it."""
    dead_services = [item for item in services if attempt_of(item) not in live]
    owned = {item["metadata"]["uid"] for item in dead_services}
    dead_pods = [item for item in pods if attempt_of(item) not in live and not _owners(item) & owned]
    return [
        orphan(kind, item["metadata"]["uid"], _ours(item))
        for kind, items in (("Service", dead_services), ("Pod", dead_pods))
        for item in items
    ]


def _owners(item: Json) -> set[str]:
    return {reference["uid"] for reference in item["metadata"].get("ownerReferences") or []}


def _ours(item: Json) -> Ours:
    meta = item["metadata"]
    return Ours(attempt_of(item), meta["namespace"], meta["name"])


def _report(cluster: Cluster, found: Pass) -> None:
    DRIFT.labels(cluster.name).set(found.drift)
    REPAIRS.labels(cluster.name).inc(found.drift)
    observe.record_pass(cluster, drift=found.drift, repairs=found.drift)
    tell = log.warning if found.drift else log.info
    tell("reconcile.pass", cluster=cluster.name, drift=found.drift, **vars(found))
