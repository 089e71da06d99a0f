"""Lists, pages, selectors, watches, changes and deletion, beyond what the recording shows."""

from collections.abc import Iterator

import pytest

from muster.emulator import EmulatorServer, running_emulator
from tests.emulator.client import NODES, PODS, Client, Json, pod

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


def configmap(name: str, **labels: str) -> Json:
    return {"metadata": {"name": name, "labels": labels}, "data": {"k": name}}


def names(listed: Json) -> list[str]:
    return [item["metadata"]["name"] for item in listed["items"]]


def test_pages_show_one_moment(client: Client) -> None:
    for name in ("a", "b", "c", "d", "e"):
        client.create(CONFIGMAPS, configmap(name))
    first = client.read(CONFIGMAPS, limit=2)
    assert first["metadata"]["remainingItemCount"] == 3
    client.remove(f"{CONFIGMAPS}/d")
    client.create(CONFIGMAPS, configmap("f"))
    second = client.read(CONFIGMAPS, limit=2, **{"continue": first["metadata"]["continue"]})
    third = client.read(CONFIGMAPS, limit=2, **{"continue": second["metadata"]["continue"]})
    assert names(first) + names(second) + names(third) == ["a", "b", "c", "d", "e"]
    assert third["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    assert "continue" not in third["metadata"]


def test_a_continue_token_expires(client: Client) -> None:
    for name in ("a", "b"):
        client.create(CONFIGMAPS, configmap(name))
    token = client.read(CONFIGMAPS, limit=1)["metadata"]["continue"]
    client.order("compact")
    answer = client.get(CONFIGMAPS, params={"limit": 1, "continue": token})
    assert (answer.status_code, answer.json()["reason"]) == (410, "Expired")


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("app=x", ["a"]),
        ("app!=x", ["b", "c"]),
        ("app in (x,y)", ["a", "b"]),
        ("app notin (x,y)", ["c"]),
        ("app", ["a", "b"]),
        ("!app", ["c"]),
        ("app=y,tier=2", ["b"]),
        ("tier>1", ["b"]),
        ("tier<2", ["a"]),
    ],
)
def test_label_selectors(client: Client, selector: str, expected: list[str]) -> None:
    client.create(CONFIGMAPS, configmap("a", app="x", tier="1"))
    client.create(CONFIGMAPS, configmap("b", app="y", tier="2"))
    client.create(CONFIGMAPS, configmap("c"))
    assert names(client.read(CONFIGMAPS, labelSelector=selector)) == expected


def test_field_selectors_of_pods(client: Client) -> None:
    client.run_pod("bound")
    client.create(PODS, pod("free"))
    assert names(client.read(PODS, fieldSelector="spec.nodeName=node-00000")) == ["bound"]
    assert names(client.read("/api/v1/pods", fieldSelector="spec.nodeName=,spec.schedulerName=muster")) == ["free"]
    assert names(client.read(NODES, fieldSelector="spec.unschedulable!=true")) == ["node-00000", "node-00001"]


def test_a_watch_resumes_where_a_list_ended(client: Client) -> None:
    client.create(CONFIGMAPS, configmap("before"))
    version = client.read(CONFIGMAPS)["metadata"]["resourceVersion"]
    client.create(CONFIGMAPS, configmap("missed"))
    with client.watch(CONFIGMAPS, resourceVersion=version) as events:
        assert names_of(events, 1) == [("ADDED", "missed")]
        client.merge(f"{CONFIGMAPS}/before", {"data": {"k": "new"}})
        client.remove(f"{CONFIGMAPS}/missed")
        assert names_of(events, 2) == [("MODIFIED", "before"), ("DELETED", "missed")]


def names_of(events: Iterator[Json], count: int) -> list[tuple[str, str]]:
    return [(event["type"], event["object"]["metadata"]["name"]) for event in (next(events) for _ in range(count))]


def test_leaving_a_selector_is_a_deletion(client: Client) -> None:
    client.create(CONFIGMAPS, configmap("a", app="x"))
    with client.watch(CONFIGMAPS, labelSelector="app=x") as events:
        assert names_of(events, 1) == [("ADDED", "a")]
        client.merge(f"{CONFIGMAPS}/a", {"metadata": {"labels": {"app": "y"}}})
        client.merge(f"{CONFIGMAPS}/a", {"data": {"k": "unseen"}})
        client.merge(f"{CONFIGMAPS}/a", {"metadata": {"labels": {"app": "x"}}})
        assert names_of(events, 2) == [("DELETED", "a"), ("ADDED", "a")]


def test_a_streaming_list_ends_with_a_marked_bookmark(client: Client) -> None:
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    with client.watch(NODES, **query) as events:
        assert names_of(events, 2) == [("ADDED", "node-00000"), ("ADDED", "node-00001")]
        mark = next(events)
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_bookmarks_carry_the_version_of_other_resources(client: Client) -> None:
    version = client.read(CONFIGMAPS)["metadata"]["resourceVersion"]
    with client.watch(CONFIGMAPS, resourceVersion=version, allowWatchBookmarks="true") as events:
        made = client.create(PODS, pod("elsewhere"))
        mark = next(events)
    assert mark["type"] == "BOOKMARK"
    assert int(mark["object"]["metadata"]["resourceVersion"]) >= int(made["metadata"]["resourceVersion"])


def test_an_old_version_is_gone() -> None:
    with running_emulator(watch_cache=5) as server, Client(server.url) as client:
        version = client.read(CONFIGMAPS)["metadata"]["resourceVersion"]
        for at in range(10):
            client.create(CONFIGMAPS, configmap(f"c{at}"))
        with client.watch(CONFIGMAPS, resourceVersion=version) as events:
            error = next(events)
            assert (error["type"], error["object"]["code"], error["object"]["reason"]) == ("ERROR", 410, "Expired")
            assert next(events, None) is None


def test_a_patch_that_changes_nothing_tells_nobody(client: Client) -> None:
    made = client.create(CONFIGMAPS, configmap("a"))
    same = client.merge(f"{CONFIGMAPS}/a", {"data": {"k": "a"}})
    assert same["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_null_in_a_merge_patch_deletes(client: Client) -> None:
    client.create(CONFIGMAPS, configmap("a", app="x"))
    patched = client.merge(f"{CONFIGMAPS}/a", {"metadata": {"labels": {"app": None}}, "data": {"k": None, "m": "1"}})
    assert patched["data"] == {"m": "1"}
    assert "labels" not in patched["metadata"]


def test_status_and_spec_keep_apart(client: Client) -> None:
    client.create(PODS, pod("a"))
    through_main = client.merge(f"{PODS}/a", {"status": {"phase": "Running"}, "metadata": {"labels": {"l": "1"}}})
    assert through_main["status"]["phase"] == "Pending"
    through_status = client.merge(f"{PODS}/a/status", {"status": {"message": "m"}, "spec": {"nodeName": "n"}})
    assert through_status["status"]["message"] == "m"
    assert "nodeName" not in through_status["spec"]
    assert through_status["metadata"]["labels"] == {"l": "1"}


def test_generated_names_and_uids_are_new(client: Client) -> None:
    body = {"metadata": {"generateName": "c-", "uid": "mine"}}
    made = [client.create(CONFIGMAPS, body)["metadata"] for _ in range(2)]
    assert all(len(meta["name"]) == 7 and meta["name"].startswith("c-") for meta in made)
    assert len({meta["name"] for meta in made} | {meta["uid"] for meta in made} | {"mine"}) == 5


def test_dry_runs_change_nothing(client: Client) -> None:
    version = client.read(PODS)["metadata"]["resourceVersion"]
    client.create(PODS, pod("a"), dryRun="All")
    assert client.read(PODS) == {**client.read(PODS), "items": [], "metadata": {"resourceVersion": version}}


def test_a_finalizer_holds_an_object(client: Client) -> None:
    client.create(CONFIGMAPS, {"metadata": {"name": "a", "finalizers": ["x/y"]}})
    assert client.remove(f"{CONFIGMAPS}/a")["metadata"]["deletionTimestamp"]
    client.merge(f"{CONFIGMAPS}/a", {"metadata": {"finalizers": None}})
    client.wait_gone(f"{CONFIGMAPS}/a")


def test_deleting_an_owner_deletes_what_it_owns(client: Client) -> None:
    services = "/api/v1/namespaces/default/services"
    owner = client.create(services, {"metadata": {"name": "job"}, "spec": {"clusterIP": "None"}})
    reference = {"apiVersion": "v1", "kind": "Service", "name": "job", "uid": owner["metadata"]["uid"]}
    client.create(CONFIGMAPS, {"metadata": {"name": "a", "ownerReferences": [reference]}})
    client.create(PODS, {**pod("p"), "metadata": {"name": "p", "ownerReferences": [reference]}})
    client.remove(f"{services}/job")
    client.wait_gone(f"{CONFIGMAPS}/a")
    client.wait_gone(f"{PODS}/p")
    # One that comes too late is collected as well.
    client.create(CONFIGMAPS, {"metadata": {"name": "late", "ownerReferences": [reference]}})
    client.wait_gone(f"{CONFIGMAPS}/late")


def test_orphans_stay(client: Client) -> None:
    owner = client.create(CONFIGMAPS, configmap("owner"))
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    client.create(CONFIGMAPS, {"metadata": {"name": "child", "ownerReferences": [reference]}})
    client.remove(f"{CONFIGMAPS}/owner", propagationPolicy="Orphan")
    client.wait_gone(f"{CONFIGMAPS}/owner")
    assert "ownerReferences" not in client.read(f"{CONFIGMAPS}/child")["metadata"]


def test_a_deleted_namespace_empties_itself(client: Client) -> None:
    client.create("/api/v1/namespaces", {"metadata": {"name": "team"}})
    client.create("/api/v1/namespaces/team/configmaps", configmap("a"))
    client.remove("/api/v1/namespaces/team")
    client.wait_gone("/api/v1/namespaces/team")
    assert client.read("/api/v1/configmaps")["items"] == []


def test_a_pod_bound_to_a_node_that_is_not_there_fails(client: Client) -> None:
    client.run_pod("lost", node="nowhere")
    with client.watch(PODS) as events:
        seen = [next(events) for _ in range(3)]
    last = seen[-1]["object"]
    assert [event["type"] for event in seen] == ["ADDED", "MODIFIED", "DELETED"]
    assert last["status"]["phase"] == "Failed"
    assert last["status"]["conditions"][-1]["reason"] == "DeletionByPodGC"


def test_a_quota_counts_what_leaves(client: Client) -> None:
    quota = {"metadata": {"name": "q"}, "spec": {"hard": {"requests.nvidia.com/gpu": "4"}}}
    client.create("/api/v1/namespaces/default/resourcequotas", quota)
    client.create(PODS, pod("a", gpus=3))
    refused = client.create(PODS, pod("b", gpus=2), code=403)
    assert "used: requests.nvidia.com/gpu=3, limited: requests.nvidia.com/gpu=4" in refused["message"]
    client.remove(f"{PODS}/a")
    client.create(PODS, pod("b", gpus=2))


def test_a_token_is_asked_for() -> None:
    with running_emulator(token="t") as server, Client(server.url) as client:
        assert client.get("/control/devices").status_code == 401
        assert client.get("/api", headers={"Authorization": "Bearer t"}).status_code == 200


def test_discovery_in_its_plain_form(client: Client) -> None:
    assert client.read("/api")["versions"] == ["v1"]
    listed = {row["name"]: row for row in client.read("/api/v1")["resources"]}
    assert listed["pods/binding"]["kind"] == "Binding"
    assert client.read("/apis/coordination.k8s.io/v1")["resources"][0]["name"] == "leases"
    assert {group["name"] for group in client.read("/apis")["groups"]} >= {"policy", "scheduling.k8s.io"}


def test_a_body_of_the_wrong_form_is_refused(client: Client) -> None:
    bodies: list[object] = [[], {"metadata": "a"}, {"metadata": {"name": "a"}, "spec": {"containers": 3}}]
    for body in bodies:
        assert client.post(PODS, json=body).status_code in (400, 422)


def test_events_have_two_forms(client: Client) -> None:
    event = {
        "metadata": {"generateName": "a."}, "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "muster",
        "reportingInstance": "m-0", "action": "Binding", "reason": "Scheduled", "type": "Normal", "note": "assigned",
        "regarding": {"kind": "Pod", "namespace": "default", "name": "a"},
    }  # fmt: skip
    path = "/apis/events.k8s.io/v1/namespaces/default/events"
    with client.watch(path) as events:
        made = client.create(path, event)
        assert next(events)["object"]["note"] == made["note"] == "assigned"
    [core] = client.read("/api/v1/events", fieldSelector="involvedObject.name=a")["items"]
    assert (core["message"], core["reportingComponent"]) == ("assigned", "muster")
    client.merge(f"{path}/{made['metadata']['name']}", {"series": {"count": 2}, "note": "again"})
    assert client.read(path)["items"][0]["note"] == "again"
    refused = client.create(path, {"metadata": {"name": "x"}, "reason": "r"}, code=422)
    assert refused["message"].startswith('Event.events.k8s.io "x" is invalid: [eventTime: Required value')


async def test_it_runs_in_a_loop_of_ours() -> None:
    async with EmulatorServer(cluster="empty") as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert server.world.store.rv > 0
