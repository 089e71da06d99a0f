"""Help for tests that drive the emulated cluster: faults on order, objects in short."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx


class Faults:
    """The emulator's control endpoint."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=f"{url}/control", timeout=10)

    def add(self, **rule: Any) -> None:
        """Add a rule: action, code, method, path, name, times, skip, probability …; see the emulator's README."""
        self._order("faults", rule)

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        self._client.delete("/faults").raise_for_status()

    def rules(self) -> list[dict[str, Any]]:
        """Every rule with its `hits`."""
        return self._client.get("/faults").json()["faults"]

    def hits(self) -> int:
        """How often a rule has struck."""
        return sum(rule["hits"] for rule in self.rules())

    def watches(self, do: str, resource: str = "pods") -> None:
        """To every open watch of a kind: end, cut, cut-mid-line, stall, expire."""
        self._order("watches", {"do": do, "resource": resource})

    def compact(self) -> None:
        """Forget history."""
        self._order("compact", {})

    def node(self, name: str, order: str, **body: Any) -> None:
        """`lose`, `restore`, `gpus/3` with healthy=False."""
        self._order(f"nodes/{name}/{order}", body)

    def devices(self) -> dict[str, list[dict[str, Any]]]:
        """Node → its GPUs with their holders."""
        return self._client.get("/devices").json()

    def _order(self, path: str, body: dict[str, Any]) -> None:
        self._client.post(f"/{path}", json=body).raise_for_status()


def pod(name: str, *, namespace: str = "default", node: str = "", **annotations: str) -> dict[str, Any]:
    """A small pod of somebody else's."""
    spec = {"containers": [{"name": "main", "image": "demo/x", "resources": {"requests": {"cpu": "2"}}}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "annotations": annotations},
        "spec": {**spec, **({"nodeName": node} if node else {})},
    }


def eventually(condition: Callable[[], Any], *, seconds: float = 10.0) -> Any:
    """What `condition` returns once it is true; the last error or an assertion after so many seconds."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {condition}")
        time.sleep(0.02)
