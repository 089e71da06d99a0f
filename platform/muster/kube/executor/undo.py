"""Taking a gang back: the owner first, so that nothing new hangs on it, then its pods by label."""

from __future__ import annotations

import contextlib
from collections.abc import Collection

from muster.kube import errors
from muster.kube.executor.requests import Json, all_of, delete, has_started, persist, pods_of
from muster.kube.gateway import Gateway
from muster.kube.manifests.gang import Gang
from muster.kube.manifests.names import ATTEMPT_LABEL, WORKER_LABEL
from muster.kube.resources import PODS, SERVICES


def undo(gateway: Gateway, gang: Gang, *, only: Collection[int] | None = None) -> None:
    """Delete everything of an attempt; with `only`, just the pods of these workers (a gang that failed to grow keeps running).

    Pods of which no container has started go at once, the others get their grace.
    """
    if only is None:
        _delete_owner(gateway, gang)

    def remove(pod: Json) -> None:
        delete(gateway, PODS, pod, grace_seconds=gang.grace_seconds if has_started(pod) else 0)

    pods = pods_of(gateway, gang.namespace, gang.attempt_id)
    wanted = {str(worker_id) for worker_id in only} if only is not None else None
    all_of(remove, [pod for pod in pods if wanted is None or pod["metadata"]["labels"].get(WORKER_LABEL) in wanted])


def _delete_owner(gateway: Gateway, gang: Gang) -> None:
    with contextlib.suppress(errors.NotFound):
        found = persist(lambda: gateway.get(SERVICES, gang.namespace, gang.name))
        if (found["metadata"].get("labels") or {}).get(ATTEMPT_LABEL) == str(gang.attempt_id):
            delete(gateway, SERVICES, found)
