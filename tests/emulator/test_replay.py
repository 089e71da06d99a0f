"""What a real API server (1.36.3) answered to recorded requests, and what the emulator answers to the same.

Identities, times and versions differ from run to run and are left aside. The recording is read where it lies; without
it there is nothing to compare, and the tests say so.
"""

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from muster.emulator import running_emulator
from tests.emulator.client import Client, Json

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("MUSTER_TEST_DATA", ROOT.parent / "shared" / "data"))
RECORDING = DATA / "k8s" / "apiserver_answers_1.36.3.jsonl"
TOKEN = "replayed"
STATUS = "application/merge-patch+json"

#: Cases that are not served yet, and why.
NOT_SERVED = {
    "pod against pod security": "Pod Security admission",
    "table": "server-side tables; kubectl makes its own",
}
#: Fields that say what cannot be the same twice.
UNSTABLE = {"uid", "resourceVersion", "managedFields", "continue", "creationTimestamp", "deletionTimestamp",
            "lastTransitionTime"}  # fmt: skip

pytestmark = pytest.mark.skipif(not RECORDING.is_file(), reason=f"no recorded answers at {RECORDING}")


def recorded() -> list[Json]:
    return [json.loads(line) for line in RECORDING.read_text().splitlines()] if RECORDING.is_file() else []


CASES = {row["case"]: row for row in recorded()}


class Replay:
    """Sends every recorded request in order, with the steps between them that the recording does not show."""

    def __init__(self, client: Client):
        self.client = client
        self.uids: dict[str, str] = {}
        self.answers: dict[str, Any] = {}

    def run(self) -> None:
        for case, row in CASES.items():
            getattr(self, "before_" + re.sub(r"\W+", "_", case), self.nothing)()
            self.answers[case] = self.send(row["request"], authorized=case != "unauthenticated")
            self.learn_uid(row["response"].get("body"), self.answers[case]["body"])

    def send(self, request: Json, *, authorized: bool = True) -> Json:
        headers = {"Authorization": f"Bearer {TOKEN}"} if authorized else {}
        if "content_type" in request:
            headers["Content-Type"] = request["content_type"]
        if "accept" in request:
            headers["Accept"] = request["accept"]
        body = request.get("body")
        text = body if isinstance(body, str) else json.dumps(body) if body is not None else ""
        for theirs, ours in self.uids.items():
            text = text.replace(theirs, ours)
        answer = self.client.request(request["method"], request["path"], content=text, headers=headers)
        found = {
            "code": answer.status_code,
            "content_type": answer.headers.get("Content-Type"),
            "body": decoded(answer.text),
        }
        if "Retry-After" in answer.headers:
            found["retry_after"] = answer.headers["Retry-After"]
        return found

    def learn_uid(self, theirs: Any, ours: Any) -> None:
        if isinstance(theirs, dict) and isinstance(ours, dict):
            pair = [body.get("metadata", {}).get("uid") for body in (theirs, ours)]
            if all(pair):
                self.uids[pair[0]] = pair[1]

    def step(self, method: str, path: str, body: Json, content_type: str = "application/json") -> None:
        answer = self.send({"method": method, "path": path, "body": body, "content_type": content_type})
        assert answer["code"] < 300, answer

    def nothing(self) -> None:
        """Most cases need no step before them."""

    def before_evict_against_unobserved_pdb(self) -> None:
        target = {"kind": "Node", "name": "n1"}
        self.step("POST", "/api/v1/namespaces/g/pods/d/binding", {"metadata": {"name": "d"}, "target": target})
        ready = {"type": "Ready", "status": "True", "lastProbeTime": None, "lastTransitionTime": None}
        status = {"phase": "Running", "conditions": [ready]}
        self.step("PATCH", "/api/v1/namespaces/g/pods/d/status", {"status": status}, STATUS)

    def before_evict_against_pdb(self) -> None:
        status = {"observedGeneration": 1, "disruptionsAllowed": 0, "desiredHealthy": 1, "currentHealthy": 1}
        self.step("PATCH", "/apis/policy/v1/namespaces/g/poddisruptionbudgets/d/status", {"status": status}, STATUS)

    def before_evict_against_two_pdbs(self) -> None:
        spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "d"}}}
        self.step(
            "POST", "/apis/policy/v1/namespaces/g/poddisruptionbudgets", {"metadata": {"name": "d2"}, "spec": spec}
        )

    def before_pod_over_quota(self) -> None:
        gpus = "requests.nvidia.com/gpu"
        status = {"hard": {gpus: "6"}, "used": {gpus: "4"}}
        self.step("PATCH", "/api/v1/namespaces/g/resourcequotas/q/status", {"status": status}, STATUS)

    def before_pod_against_pod_security(self) -> None:
        meta = {"name": "psa", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}
        self.step("POST", "/api/v1/namespaces", {"metadata": meta})

    def before_log_of_unbound_pod(self) -> None:
        self.step("DELETE", "/api/v1/namespaces/g/resourcequotas/q", {})
        self.step("POST", "/api/v1/namespaces/g/pods", {**CASES["pod b"]["request"]["body"], "metadata": {"name": "u"}})

    def before_watch_compacted(self) -> None:
        self.step("POST", "/control/compact", {})


@cache
def replayed() -> dict[str, Any]:
    with running_emulator(token=TOKEN, controllers=False) as server, Client(server.url) as client:
        replay = Replay(client)
        replay.run()
    return replay.answers


def decoded(text: str) -> Any:
    """A JSON body; a stream of lines as the recording has it: none, one, or a list; else the text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def stable(value: Any) -> Any:
    """A body without what differs from run to run."""
    if isinstance(value, dict):
        return {key: stable(item) for key, item in value.items() if key not in UNSTABLE}
    if isinstance(value, list):
        return [stable(item) for item in value]
    if isinstance(value, str):
        text = value.partition("\n@@")[0]  # a diff of Go structures
        text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID", text)
        text = re.sub(r"(resource version: |current: |in record \(|too old resource version: \d+ \()\d+", r"\1N", text)
        return re.sub(r"^u\.[a-z0-9]{5}$", "u.SUFFIX", text)
    return value


def empty_stream(value: Any) -> Any:
    return [] if value == "" else value


@pytest.mark.parametrize("case", [case for case in CASES if case not in (*NOT_SERVED, "discovery v2")])
def test_answers_as_the_real_server(case: str) -> None:
    real, ours = CASES[case]["response"], replayed()[case]
    assert ours["code"] == real["code"], ours
    assert ours.get("retry_after") == real.get("retry_after")
    if real["content_type"]:
        assert ours["content_type"] == real["content_type"]
    if real["body"] == []:
        ours = {**ours, "body": empty_stream(ours["body"])}
    assert stable(ours["body"]) == stable(real["body"])


def test_discovery_lists_what_is_served_as_the_real_server_lists_it() -> None:
    rows = [by_resource(answer["body"]) for answer in (CASES["discovery v2"]["response"], replayed()["discovery v2"])]
    real, ours = rows
    assert {"pods", "nodes", "services", "configmaps", "events", "namespaces"} <= set(ours)
    for name, row in ours.items():
        assert row["subresources"].items() <= real[name]["subresources"].items(), name
        assert {**row, "subresources": 0} == {**real[name], "subresources": 0}


def by_resource(body: Json) -> dict[str, Json]:
    """Rows by resource, their sub-resources by name and as text."""
    rows = body["items"][0]["versions"][0]["resources"]
    for row in rows:
        subs = row.get("subresources", [])
        row["subresources"] = {sub["subresource"]: json.dumps(sub, sort_keys=True) for sub in subs}
    return {row["resource"]: row for row in rows}


def test_the_list_of_what_is_not_served_is_true() -> None:
    for case in NOT_SERVED:
        assert stable(replayed()[case]["body"]) != stable(CASES[case]["response"]["body"]), case


def test_the_recording_is_whole() -> None:
    assert len(CASES) == 90
