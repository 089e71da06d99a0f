"""Many requests at once, each tried again while the trouble is passing; and the rules for answers that say "already"."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from muster.kube import errors
from muster.kube.gateway import Gateway
from muster.kube.manifests.names import ATTEMPT_LABEL
from muster.kube.resources import PODS, Resource

Json = dict[str, Any]
Item = TypeVar("Item")
Result = TypeVar("Result")

CHUNK = 64
AT_ONCE = 32
TRIES = 4
FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 2.0


class Refused(Exception):
    """The cluster will not have this as planned; `node` names the one to avoid, if one is to blame."""

    def __init__(self, message: str, *, node: str = "") -> None:
        self.message = message
        self.node = node
        super().__init__(message)


@functools.cache
def _pool() -> ThreadPoolExecutor:
    """The process's threads for requests; they never touch the database."""
    return ThreadPoolExecutor(AT_ONCE, thread_name_prefix="request")


def chunks(items: Sequence[Item], size: int = CHUNK) -> Iterator[Sequence[Item]]:
    """`items` in runs of at most `size`."""
    for begin in range(0, len(items), size):
        yield items[begin : begin + size]


def all_of(call: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """`call` on every item at once. All are waited for, then the first refusal is raised, else the first other failure."""
    futures: list[Future[Result]] = [_pool().submit(call, item) for item in items]
    failures = [error for error in (future.exception() for future in futures) if error]
    for error in failures:
        if isinstance(error, Refused):
            raise error
    if failures:
        raise failures[0]
    return [future.result() for future in futures]


def persist(call: Callable[[], Result]) -> Result:
    """`call`, again while the server is overloaded, failing or out of reach. Only for what is safe to do twice."""
    for further in reversed(range(TRIES)):
        try:
            return call()
        except errors.PASSING as error:
            if not further:
                raise
            time.sleep(_pause(error, TRIES - 1 - further))
    raise AssertionError("unreachable")


def _pause(error: errors.KubeError, failures: int) -> float:
    asked = float(error.details.get("retry_after") or 0)
    return min(max(asked, FIRST_WAIT_SECONDS * 2**failures), LONGEST_WAIT_SECONDS)


def create(gateway: Gateway, resource: Resource, body: Json) -> Json:
    """Create an object of an attempt. One of that name and attempt that is already there counts as created; another's refuses."""
    meta = body["metadata"]
    namespace, name = meta.get("namespace", ""), meta["name"]
    try:
        return persist(lambda: gateway.create(resource, namespace, body))
    except errors.AlreadyExists:
        found = persist(lambda: gateway.get(resource, namespace, name))
    except (errors.Forbidden, errors.BadRequest, errors.NotFound, errors.Conflict) as error:
        raise Refused(f"{name} was refused: {error.message}") from error
    theirs = (found["metadata"].get("labels") or {}).get(ATTEMPT_LABEL)
    if theirs != meta["labels"][ATTEMPT_LABEL]:
        raise Refused(f"{resource.plural} {name} exists and is not ours.")
    if found["metadata"].get("deletionTimestamp"):
        raise Refused(f"{resource.plural} {name} is being deleted.")
    return found


def bind(gateway: Gateway, pod: Json, node: str, annotations: dict[str, str] | None = None) -> None:
    """Bind a pod as created. Bound already, with the same uid and to the node planned, is success; anything else refuses."""
    try:
        persist(lambda: gateway.bind(pod, node, annotations))
    except errors.Conflict as error:
        _check_bound(gateway, pod, node, error)
    except (errors.NotFound, errors.Forbidden, errors.BadRequest, errors.AlreadyExists) as error:
        raise Refused(f"Binding of {pod['metadata']['name']} was refused: {error.message}", node=node) from error


def _check_bound(gateway: Gateway, pod: Json, node: str, refusal: errors.KubeError) -> None:
    meta = pod["metadata"]
    try:
        found = persist(lambda: gateway.get(PODS, meta["namespace"], meta["name"]))
    except errors.NotFound:
        found = None
    is_same = found is not None and found["metadata"]["uid"] == meta["uid"]
    if not is_same or found is None or found["spec"].get("nodeName") != node:
        raise Refused(f"Binding of {meta['name']} was refused: {refusal.message}", node=node) from refusal


def delete(gateway: Gateway, resource: Resource, found: Json, *, grace_seconds: int | None = None) -> None:
    """Delete this very object; one that is gone, or whose name another has by now, is done already."""
    meta = found["metadata"]
    with contextlib.suppress(errors.NotFound, errors.Conflict):
        persist(
            lambda: gateway.delete(
                resource, meta.get("namespace", ""), meta["name"], uid=meta["uid"], grace_seconds=grace_seconds
            )
        )


def pods_of(gateway: Gateway, namespace: str, attempt_id: int) -> list[Json]:
    """Every pod of an attempt, as the server has it now."""
    selector = f"{ATTEMPT_LABEL}={attempt_id}"

    def read() -> list[Json]:
        pages = gateway.pages(PODS, namespace, labelSelector=selector)
        return [pod for items, _version in pages for pod in items]

    return persist(read)


def has_started(pod: Json) -> bool:
    """Whether any container of the pod has run: then it gets its grace."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return any(key in (status.get("state") or {}) for status in statuses for key in ("running", "terminated"))
