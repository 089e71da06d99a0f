"""Faults on order."""

import httpx
import pytest

from tests.emulator.client import PODS, Client, Json, pod

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


def fault(client: Client, **rule: object) -> Json:
    return client.order("faults", dict(rule))


@pytest.mark.parametrize(
    ("code", "reason"), [(500, "InternalError"), (429, "TooManyRequests"), (409, "Conflict"), (410, "Expired")]
)
def test_the_next_requests_are_answered_so(client: Client, code: int, reason: str) -> None:
    fault(client, code=code, times=2, method="GET", path="/configmaps", retry_after=3)
    answers = [client.get(CONFIGMAPS) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [code, code, 200]
    assert answers[0].json()["reason"] == reason
    assert answers[0].headers["Retry-After"] == "3"
    assert client.get(PODS).status_code == 200


def test_the_fifth_pod_of_a_job_is_refused(client: Client) -> None:
    fault(client, code=403, method="POST", path="/pods$", name="train-.*", skip=4)
    codes = [client.post(PODS, json=pod(f"train-{at}")).status_code for at in range(8)]
    assert codes == [201] * 4 + [403] + [201] * 3
    assert client.post(PODS, json=pod("other")).status_code == 201


def test_a_probability_with_a_seed_repeats_itself(client: Client) -> None:
    def draw() -> list[int]:
        fault(client, probability=0.5, seed=7, times=None)
        codes = [client.get(CONFIGMAPS).status_code for _ in range(20)]
        client.order("faults", method="DELETE")
        return codes

    first = draw()
    assert first == draw()
    assert set(first) == {200, 500}


def test_a_hanging_server_answers_nothing(client: Client) -> None:
    fault(client, action="hang", path="/configmaps")
    with pytest.raises(httpx.ReadTimeout):
        client.get(CONFIGMAPS, timeout=0.3)
    assert client.get(CONFIGMAPS).status_code == 200


def test_a_lost_reply_was_done_all_the_same(client: Client) -> None:
    client.create(PODS, pod("a"))
    fault(client, action="lose-reply", path="/binding$")
    with pytest.raises(httpx.TransportError):
        client.bind("a", "node-00000")
    assert client.read(f"{PODS}/a")["spec"]["nodeName"] == "node-00000"


def test_a_dropped_request_was_not_done(client: Client) -> None:
    fault(client, action="drop", method="POST")
    with pytest.raises(httpx.TransportError):
        client.create(PODS, pod("a"))
    assert client.get(f"{PODS}/a").status_code == 404


def test_a_watch_is_refused(client: Client) -> None:
    fault(client, code=410, method="WATCH")
    assert client.get(CONFIGMAPS, params={"watch": "1"}).status_code == 410
    assert client.get(CONFIGMAPS).status_code == 200


def test_a_watch_ends_in_order(client: Client) -> None:
    with client.watch(CONFIGMAPS) as events:
        assert client.order("watches", {"do": "end"}) == {"watches": 1}
        assert list(events) == []


@pytest.mark.parametrize("how", ["cut", "cut-mid-line"])
def test_a_watch_is_cut(client: Client, how: str) -> None:
    received: list[bytes] = []
    with client.stream("GET", CONFIGMAPS, params={"watch": "1"}) as answer:
        client.order("watches", {"do": how, "resource": "configmaps"})
        with pytest.raises(httpx.RemoteProtocolError):
            received.extend(answer.iter_bytes())
    assert bool(received) is (how == "cut-mid-line")
    assert b"\n" not in b"".join(received)


def test_only_the_named_watches_are_cut(client: Client) -> None:
    with client.watch(CONFIGMAPS) as events:
        assert client.order("watches", {"do": "end", "resource": "pods"}) == {"watches": 0}
        client.create(CONFIGMAPS, {"metadata": {"name": "a"}})
        assert next(events)["type"] == "ADDED"


def test_a_watch_expires_in_the_stream(client: Client) -> None:
    with client.watch(CONFIGMAPS) as events:
        client.order("watches", {"do": "expire"})
        error = next(events)
    assert (error["type"], error["object"]["code"]) == ("ERROR", 410)


def test_a_stalled_watch_says_nothing_more(client: Client) -> None:
    with client.stream("GET", CONFIGMAPS, params={"watch": "1"}, timeout=0.5) as answer:
        client.order("watches", {"do": "stall"})
        client.create(CONFIGMAPS, {"metadata": {"name": "a"}})
        with pytest.raises(httpx.ReadTimeout):
            next(answer.iter_lines())


@pytest.mark.parametrize(
    ("rule", "told"),
    [({"cod": 1}, "unknown key 'cod'"), ({"action": "x"}, "action is one of"), ({"path": "("}, "path:")],
)
def test_a_wrong_order_says_why(client: Client, rule: Json, told: str) -> None:
    answer = client.post("/control/faults", json=rule)
    assert answer.status_code == 400
    assert told in answer.json()["error"]


def test_orders_that_do_not_exist(client: Client) -> None:
    assert client.post("/control/nodes/none/lose").status_code == 404
    assert client.post("/control/dance").status_code == 404
    assert client.post("/control/nodes/node-00000/gpus/9", json={"healthy": False}).status_code == 400
