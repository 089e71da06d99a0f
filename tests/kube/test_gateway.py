"""The gateway: every answer of the server, and every way of not answering, as one of our errors."""

import time

import pytest

from muster.clusters.choices import Connection
from muster.clusters.models import Cluster
from muster.common.secrets import seal
from muster.emulator import EmulatorServer, running_emulator
from muster.emulator.kubeconfig import write_kubeconfig
from muster.kube import errors
from muster.kube import gateway as module
from muster.kube.gateway import Gateway
from muster.kube.resources import NODES, PODS
from tests.support.kubernetes import Faults, pod


def test_objects_come_and_go(gateway: Gateway) -> None:
    created = gateway.create(PODS, "default", pod("a"))
    assert gateway.get(PODS, "default", "a")["metadata"]["uid"] == created["metadata"]["uid"]
    gateway.delete(PODS, "default", "a", uid=created["metadata"]["uid"], grace_seconds=0)
    with pytest.raises(errors.NotFound, match='pods "a" not found'):
        gateway.get(PODS, "default", "a")


def test_a_binding_succeeds_once(gateway: Gateway) -> None:
    """The client's own call raises after success, since the server answers with a Status."""
    created = gateway.create(PODS, "default", pod("a"))
    gateway.bind(created, "node-00001", {"told": "so"})
    bound = gateway.get(PODS, "default", "a")
    assert bound["spec"]["nodeName"] == "node-00001"
    assert bound["metadata"]["annotations"]["told"] == "so"
    with pytest.raises(errors.Conflict, match='already assigned to node "node-00001"'):
        gateway.bind(created, "node-00001")


def test_a_list_comes_in_pages(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE_SIZE", 3)
    pages = list(gateway.pages(NODES))
    assert [len(items) for items, _version in pages] == [3, 1]
    assert len({version for _items, version in pages}) == 1


def test_a_pod_of_another_uid_is_not_deleted(gateway: Gateway) -> None:
    gateway.create(PODS, "default", pod("a"))
    with pytest.raises(errors.Conflict, match="UID in the precondition"):
        gateway.delete(PODS, "default", "a", uid="another")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, errors.BadRequest),
        (401, errors.Unauthorized),
        (403, errors.Forbidden),
        (404, errors.NotFound),
        (409, errors.Conflict),
        (410, errors.Gone),
        (422, errors.BadRequest),
        (429, errors.TooManyRequests),
        (500, errors.ServerFault),
        (503, errors.ServerFault),
    ],
)
def test_each_status_is_an_error_of_ours(
    gateway: Gateway, faults: Faults, code: int, kind: type[errors.KubeError]
) -> None:
    faults.add(code=code, method="GET", path="/nodes/")
    with pytest.raises(kind) as caught:
        gateway.get(NODES, "", "node-00000")
    assert caught.value.details["http_status"] == code


def test_how_long_to_wait_is_told(gateway: Gateway, faults: Faults) -> None:
    faults.add(code=429, retry_after=7)
    with pytest.raises(errors.TooManyRequests) as caught:
        gateway.version()
    assert caught.value.retry_after == 7


def test_a_taken_name_is_no_plain_conflict(gateway: Gateway) -> None:
    gateway.create(PODS, "default", pod("a"))
    with pytest.raises(errors.AlreadyExists):
        gateway.create(PODS, "default", pod("a"))


@pytest.mark.parametrize("action", ["drop", "lose-reply"])
def test_a_lost_answer_is_unreachable(gateway: Gateway, faults: Faults, action: str) -> None:
    faults.add(action=action, method="POST")
    with pytest.raises(errors.Unreachable):
        gateway.create(PODS, "default", pod("a"))
    # Nothing repeats a POST behind our back: the caller reads, then decides.
    assert faults.hits() == 1


def test_silence_has_an_end(gateway: Gateway, faults: Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ANSWER_SECONDS", 0.3)
    faults.add(action="hang", seconds=5)
    begun = time.monotonic()
    with pytest.raises(errors.Unreachable):
        gateway.version()
    assert time.monotonic() - begun < 2


def test_nobody_listens() -> None:
    with running_emulator() as server:
        url = server.url
    with pytest.raises(errors.Unreachable, match="refused"):
        Gateway.of(_inline(url)).version()


def test_a_stored_kubeconfig_with_its_token() -> None:
    with running_emulator(token="let-me-in") as server:
        assert Gateway.of(_inline(server.url, "let-me-in")).version().startswith("v1.")
        with pytest.raises(errors.Unauthorized):
            Gateway.of(_inline(server.url, "wrong")).version()


@pytest.mark.parametrize("text", ["", "not: [a kubeconfig", "apiVersion: v1\nkind: Config\n"])
def test_a_broken_kubeconfig_says_so(text: str) -> None:
    cluster = Cluster(name="lab", connection=Connection.INLINE, kubeconfig_sealed=seal(text))
    with pytest.raises(errors.BadConnection, match="cluster lab"):
        Gateway.of(cluster)


def test_a_missing_file_says_so() -> None:
    with pytest.raises(errors.BadConnection, match="cluster lab"):
        Gateway.of(Cluster(name="lab", kubeconfig_path="no/such/file"))


def _inline(url: str, token: str | None = None) -> Cluster:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kubeconfig"
        write_kubeconfig(path, url, token)
        return Cluster(name="lab", connection=Connection.INLINE, kubeconfig_sealed=seal(path.read_text()))


def test_a_log_is_followed_as_it_grows(gateway: Gateway, emulator: EmulatorServer) -> None:
    annotated = pod(
        "a",
        node="node-00000",
        **{
            "emulator.muster.dev/log-lines": "3",
            "emulator.muster.dev/run-seconds": "0.6",
        },
    )
    gateway.create(PODS, "default", annotated)
    time.sleep(0.1)
    with gateway.log("default", "a", read_seconds=5, follow="true") as chunks:
        first = next(chunks)
        rest = b"".join(chunks)
    assert first.startswith(b"line 1/3")
    assert rest.endswith(b"line 3/3\n")
