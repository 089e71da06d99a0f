"""A small client of the Kubernetes API for these tests: paths and JSON, nothing typed."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import httpx

Json = dict[str, Any]
PODS = "/api/v1/namespaces/default/pods"
NODES = "/api/v1/nodes"
MERGE = "application/merge-patch+json"


class Client(httpx.Client):
    """httpx with the verbs of the API."""

    def __init__(self, url: str, **options: Any):
        super().__init__(base_url=url, timeout=20, **options)

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def read(self, path: str, **query: Any) -> Json:
        answer = self.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def create(self, path: str, body: Json, code: int = 201, **query: Any) -> Json:
        answer = self.post(path, json=body, params=query)
        assert answer.status_code == code, answer.text
        return answer.json()

    def merge(self, path: str, body: Json, code: int = 200) -> Json:
        answer = self.patch(path, content=json.dumps(body), headers={"Content-Type": MERGE})
        assert answer.status_code == code, answer.text
        return answer.json()

    def remove(self, path: str, code: int = 200, **options: Any) -> Json:
        answer = self.request("DELETE", path, json=options or None)
        assert answer.status_code == code, answer.text
        return answer.json()

    def order(self, path: str, body: Json | None = None, method: str = "POST") -> Json:
        answer = self.request(method, f"/control/{path}", json=body or {})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def run_pod(self, name: str, node: str = "node-00000", **options: Any) -> Json:
        """Create a pod and bind it."""
        self.create(PODS, pod(name, **options))
        return self.bind(name, node)

    def bind(self, name: str, node: str, **meta: Any) -> Json:
        body = {"metadata": {"name": name, **meta}, "target": {"kind": "Node", "name": node}}
        return self.create(f"{PODS}/{name}/binding", body)

    def wait(self, name: str, is_so: Callable[[Json], bool], seconds: float = 10) -> Json:
        """A pod, once something is true of it."""
        end = time.monotonic() + seconds
        while True:
            found = self.read(f"{PODS}/{name}")
            if is_so(found):
                return found
            assert time.monotonic() < end, found["status"]
            time.sleep(0.02)

    def wait_phase(self, name: str, phase: str) -> Json:
        return self.wait(name, lambda found: found["status"]["phase"] == phase)

    def wait_gone(self, path: str, seconds: float = 10) -> None:
        end = time.monotonic() + seconds
        while self.get(path).status_code != 404:
            assert time.monotonic() < end, path
            time.sleep(0.02)

    @contextmanager
    def watch(self, path: str, **query: Any) -> Iterator[Iterator[Json]]:
        """The events of a watch, decoded."""
        with self.stream("GET", path, params={"watch": "1", **query}) as answer:
            assert answer.status_code == 200
            yield (json.loads(line) for line in answer.iter_lines())


def pod(
    name: str,
    *,
    gpus: int = 0,
    image: str = "x",
    annotations: Json | None = None,
    labels: Json | None = None,
    command: list[str] | None = None,
    **spec: Any,
) -> Json:
    """A pod that ends once; `annotations` without a slash are the emulator's."""
    noted = {
        key if "/" in key else f"emulator.muster.dev/{key}": str(value) for key, value in (annotations or {}).items()
    }
    container: Json = {"name": "w", "image": image, "resources": {"limits": {"cpu": "1"}}}
    if gpus:
        container["resources"]["limits"]["nvidia.com/gpu"] = str(gpus)
    if command:
        container["command"] = command
    container |= spec.pop("container", {})
    return {
        "metadata": {"name": name, "annotations": noted, "labels": labels or {}},
        "spec": {"restartPolicy": "Never", "schedulerName": "muster", "containers": [container], **spec},
    }


def terminated(found: Json) -> Json:
    return found["status"]["containerStatuses"][0]["state"]["terminated"]
