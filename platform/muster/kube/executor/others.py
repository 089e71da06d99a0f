"""The small intents: orders to nodes, and objects that outlived their attempt."""

from __future__ import annotations

from muster.kube import errors
from muster.kube.executor.requests import all_of, delete, persist, pods_of
from muster.kube.gateway import Gateway
from muster.kube.manifests.names import ATTEMPT_LABEL, WORKER_LABEL
from muster.kube.resources import NODES, PODS, SERVICES
from muster.kube.streams.store import keep, read_tail
from muster.placements import actions
from muster.placements.choices import IntentState, NodeVerb
from muster.placements.models import NodeOrder, Orphan
from muster.workloads.models import Worker

ORPHAN_KINDS = {"Pod": PODS, "Service": SERVICES}


def run_order(order: NodeOrder, gateway: Gateway) -> None:
    """Cordon or uncordon; the row changes when the informer has seen it."""
    body = {"spec": {"unschedulable": order.verb == NodeVerb.CORDON}}
    try:
        persist(lambda: gateway.merge_patch(NODES, "", order.node.name, body))
    except errors.NotFound:
        actions.finish_intent(order, IntentState.UNDONE)
    else:
        actions.finish_intent(order)


def run_orphan(orphan: Orphan, gateway: Gateway) -> None:
    """Delete exactly this object; a Service takes its attempt's pods along, so their logs are kept first."""
    resource = ORPHAN_KINDS[orphan.kind]
    try:
        found = persist(lambda: gateway.get(resource, orphan.namespace, orphan.name))
    except errors.NotFound:
        actions.finish_intent(orphan)
        return
    if found["metadata"]["uid"] == orphan.uid:
        pods = [found]
        if resource is SERVICES:
            attempt_id = found["metadata"].get("labels", {}).get(ATTEMPT_LABEL, "0")
            pods = pods_of(gateway, orphan.namespace, int(attempt_id))
        _keep_logs(gateway, pods)
        delete(gateway, resource, found)
    actions.finish_intent(orphan)


def _keep_logs(gateway: Gateway, pods: list[dict[str, object]]) -> None:
    """Store what these pods have logged, for those that are workers of ours."""
    named = {}
    for pod in pods:
        meta = pod["metadata"]
        assert isinstance(meta, dict)
        named[int(meta.get("labels", {}).get(WORKER_LABEL, 0))] = (meta["namespace"], meta["name"])
    workers = Worker.objects.select_related("attempt", "role").in_bulk(list(named))
    tails = all_of(lambda key: read_tail(gateway, *named[key]), workers)
    for worker, tail in zip(workers.values(), tails, strict=True):
        if tail:
            keep(worker, tail)
