"""All requests to one API server: raw JSON over the official client's configuration and urllib3's pool.

Typed models cost ten times as much to decode and drop unknown fields, and the client's binding call raises after success, so
none of them is used. Every error leaves here as one of `kube.errors`. A gateway is shared by any number of threads.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import urlencode

import orjson
import urllib3

from muster.clusters.models import Cluster
from muster.kube.connect import Link, link_to
from muster.kube.errors import NotFound, Unreachable, from_status
from muster.kube.resources import PODS, Resource

Json = dict[str, Any]

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 20.0
PAGE_SIZE = 500
CONNECTIONS = 64
_STREAM_BYTES = 1 << 16


class Cut:
    """Ends a stream from another thread, even one that waits for the next byte."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._response: urllib3.BaseHTTPResponse | None = None
        self._is_cut = False

    def arm(self, response: urllib3.BaseHTTPResponse) -> None:
        """This is the stream; it is ended at once when the order has come already."""
        with self._lock:
            self._response = response
        if self._is_cut:
            self.now()

    @property
    def is_cut(self) -> bool:
        """Whether the order has come."""
        return self._is_cut

    def now(self) -> None:
        """End it."""
        with self._lock:
            self._is_cut, response = True, self._response
        if response is not None:
            with contextlib.suppress(ValueError, OSError, RuntimeError):
                response.shutdown()


class Gateway:
    """One cluster's API server."""

    def __init__(self, link: Link) -> None:
        self._link = link

    @classmethod
    def of(cls, cluster: Cluster, *, connections: int = CONNECTIONS) -> Gateway:
        """Over the cluster's stored connection; BadConnection when that cannot be used."""
        return cls(link_to(cluster, connections=connections))

    def close(self) -> None:
        """Drop the idle connections."""
        self._link.pool.clear()

    def version(self) -> str:
        """The server's version, as `v1.36.3`."""
        return str(self._json("GET", "/version").get("gitVersion", ""))

    def versions(self, group: str) -> list[str]:
        """The versions of an API group that are served, as `v1`; none where the group is not there."""
        try:
            found = self._json("GET", f"/apis/{group}")
        except NotFound:
            return []
        return [str(one["version"]) for one in found.get("versions") or []]

    def get(self, resource: Resource, namespace: str, name: str) -> Json:
        """One object; NotFound where there is none."""
        return self._json("GET", resource.path(namespace, name))

    def pages(self, resource: Resource, namespace: str = "", **selectors: str) -> Iterator[tuple[list[Json], str]]:
        """A list, PAGE_SIZE objects at a time, each page with the resource version of the whole. Gone: start over.

        `selectors` are labelSelector and fieldSelector.
        """
        query: dict[str, Any] = {"limit": PAGE_SIZE, **selectors}
        while True:
            page = self._json("GET", resource.path(namespace), query=query)
            meta = page.get("metadata") or {}
            yield page.get("items") or [], str(meta.get("resourceVersion", ""))
            if not meta.get("continue"):
                return
            query["continue"] = meta["continue"]

    def create(self, resource: Resource, namespace: str, body: Json) -> Json:
        """The object as created; AlreadyExists where its name is taken."""
        return self._json("POST", resource.path(namespace), body=body)

    def merge_patch(self, resource: Resource, namespace: str, name: str, body: Json) -> Json:
        """The object with `body` merged into it."""
        return self._json(
            "PATCH", resource.path(namespace, name), body=body, content_type="application/merge-patch+json"
        )

    def bind(self, pod: Json, node: str, annotations: dict[str, str] | None = None) -> None:
        """Give `pod` (as created: its uid is the precondition) to `node`. The server accepts nodes that do not exist."""
        meta = pod["metadata"]
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {
                "name": meta["name"],
                "namespace": meta["namespace"],
                "uid": meta["uid"],
                "annotations": annotations or {},
            },
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        self._json("POST", PODS.path(meta["namespace"], meta["name"], "binding"), body=body)

    def delete(
        self, resource: Resource, namespace: str, name: str, *, uid: str = "", grace_seconds: int | None = None
    ) -> None:
        """Delete an object, only if it has this `uid` where one is given (else Conflict); `grace_seconds` is a pod's."""
        body: Json = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        if uid:
            body["preconditions"] = {"uid": uid}
        if grace_seconds is not None:
            body["gracePeriodSeconds"] = grace_seconds
        self._json("DELETE", resource.path(namespace, name), body=body)

    @contextlib.contextmanager
    def watch(self, resource: Resource, version: str, *, seconds: int, read_seconds: float) -> Iterator[Iterator[Json]]:
        """Events after `version` for `seconds`, bookmarks included. Silence of `read_seconds` raises Unreachable.

        A server error inside the stream is raised as what it is (Gone, mostly). The iterator ends with the server's clean close.
        """
        query = {
            "watch": "1",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": seconds,
        }
        with self._stream(resource.path(), query, read_seconds) as chunks:
            yield _events(chunks)

    @contextlib.contextmanager
    def log(
        self, namespace: str, pod: str, *, read_seconds: float | None, cut: Cut | None = None, **query: Any
    ) -> Iterator[Iterator[bytes]]:
        """A pod's log in chunks as they come; `query` is follow, tailLines, limitBytes, timestamps of the API.

        Without `read_seconds` silence is borne for ever (a dead connection is noticed by TCP); `cut` lets another thread end it.
        """
        with self._stream(PODS.path(namespace, pod, "log"), query, read_seconds, cut) as chunks:
            yield chunks

    def _json(
        self,
        method: str,
        path: str,
        *,
        body: Json | None = None,
        query: Json | None = None,
        content_type: str = "application/json",
    ) -> Json:
        headers = {"accept": "application/json", "content-type": content_type}
        encoded = orjson.dumps(body) if body is not None else None
        response = self._open(method, self._address(path, query), headers=headers, body=encoded)
        return cast(Json, orjson.loads(response.data)) if response.data else {}

    def _open(
        self, method: str, address: str, *, headers: dict[str, str], body: bytes | None
    ) -> urllib3.BaseHTTPResponse:
        """An answered request, read whole; every failure as one of ours."""
        with _mapped():
            response = self._link.pool.urlopen(
                method,
                address,
                body=body,
                headers={**headers, **self._link.authorization()},
                timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=ANSWER_SECONDS),
                redirect=False,
            )
        if response.status >= 300:
            raise _refusal(response)
        return response

    @contextlib.contextmanager
    def _stream(
        self, path: str, query: Json, read_seconds: float | None, cut: Cut | None = None
    ) -> Iterator[Iterator[bytes]]:
        with _mapped():
            response = self._link.pool.urlopen(
                "GET",
                self._address(path, query),
                headers={"accept": "application/json, */*", **self._link.authorization()},
                timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=read_seconds),
                redirect=False,
                preload_content=False,
            )
        try:
            if response.status >= 300:
                with _mapped():
                    response.read(cache_content=True)
                raise _refusal(response)
            if cut:
                cut.arm(response)
            yield _chunks(response)
        finally:
            # A stream left half-way cannot be given back to the pool.
            response.close()

    def _address(self, path: str, query: Json | None) -> str:
        given = {key: value for key, value in (query or {}).items() if value is not None}
        return f"{self._link.host}{path}?{urlencode(given)}" if given else f"{self._link.host}{path}"


@contextlib.contextmanager
def _mapped() -> Iterator[None]:
    """Whatever goes wrong below HTTP is Unreachable, in the client's own words."""
    try:
        yield
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise Unreachable(f"{type(error).__name__}: {error}") from error


def _refusal(response: urllib3.BaseHTTPResponse) -> Exception:
    """The error for a status of 300 and above; proxies answer in other formats than the API server."""
    try:
        body = orjson.loads(response.data)
    except orjson.JSONDecodeError:
        body = {"message": response.data[:300].decode(errors="replace")}
    return from_status(response.status, body if isinstance(body, dict) else {}, response.headers.get("Retry-After"))


def _chunks(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    with _mapped():
        yield from response.stream(_STREAM_BYTES)


def _events(chunks: Iterator[bytes]) -> Iterator[Json]:
    """Watch events of newline-delimited JSON; a line cut off by the connection's end is no event."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line:
                yield _event(line)


def _event(line: bytes) -> Json:
    try:
        event = cast(Json, orjson.loads(line))
    except orjson.JSONDecodeError as error:
        raise Unreachable(f"the watch sent what is no JSON: {error}") from error
    if event["type"] == "ERROR":
        status = event["object"]
        raise from_status(int(status.get("code") or 500), status)
    return event
