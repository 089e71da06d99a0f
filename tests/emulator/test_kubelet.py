"""Simulated pods: admission, phases, devices, logs, stopping, nodes that are lost."""

import time
from collections.abc import Iterator

import orjson
import pytest

from muster.emulator import running_emulator
from tests.emulator.client import NODES, PODS, Client, Json, pod, terminated

OBSERVED = "muster.scheduler/devices-observed"
WANTED = "muster.scheduler/devices"


def observed(found: Json) -> list[int]:
    devices: list[int] = orjson.loads(found["metadata"]["annotations"][OBSERVED])["w"]["gpus"]
    return devices


def named(*gpus: int, **more: object) -> Json:
    return {WANTED: orjson.dumps({"w": {"gpus": list(gpus), **more}}).decode()}


def phases(client: Client, name: str, until: str) -> list[str]:
    """The phases that a watcher sees, each once, in order."""
    seen: list[str] = []
    with client.watch(PODS, fieldSelector=f"metadata.name={name}") as events:
        for event in events:
            phase = event["object"]["status"]["phase"]
            if not seen or seen[-1] != phase:
                seen.append(phase)
            if phase == until:
                return seen
    raise AssertionError(seen)


def test_a_pod_runs_and_ends(client: Client) -> None:
    client.run_pod("a", annotations={"start-delay": 0.1, "run-seconds": 0.2})
    assert phases(client, "a", "Succeeded") == ["Pending", "Running", "Succeeded"]
    found = client.read(f"{PODS}/a")
    assert terminated(found)["exitCode"] == 0
    assert terminated(found)["reason"] == "Completed"
    assert found["status"]["hostIP"] == client.read(f"{NODES}/node-00000")["status"]["addresses"][0]["address"]


def test_while_it_runs_it_is_ready_and_has_an_address(client: Client) -> None:
    client.run_pod("a", gpus=2)
    status = client.wait_phase("a", "Running")["status"]
    conditions = {row["type"]: row["status"] for row in status["conditions"]}
    assert conditions["Ready"] == conditions["ContainersReady"] == conditions["PodScheduled"] == "True"
    assert status["podIP"]
    assert status["startTime"]
    assert status["containerStatuses"][0]["state"]["running"]["startedAt"]


@pytest.mark.parametrize(
    ("annotations", "code", "reason"),
    [({"exit-code": 3}, 3, "Error"), ({"exit-code": 137, "exit-reason": "OOMKilled"}, 137, "OOMKilled")],
)
def test_it_fails_as_told(client: Client, annotations: Json, code: int, reason: str) -> None:
    client.run_pod("a", annotations={"run-seconds": 0, **annotations})
    ended = terminated(client.wait_phase("a", "Failed"))
    assert (ended["exitCode"], ended["reason"]) == (code, reason)


def test_a_container_is_started_again(client: Client) -> None:
    client.run_pod("a", annotations={"run-seconds": 0, "exit-code": 1}, restartPolicy="OnFailure")
    found = client.wait("a", lambda seen: (seen["status"].get("containerStatuses") or [{}])[0].get("restartCount") == 1)
    status = found["status"]["containerStatuses"][0]
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert status["lastState"]["terminated"]["exitCode"] == 1


def requests(**amounts: str) -> Json:
    return {"container": {"resources": {"requests": amounts}}}


@pytest.mark.parametrize(
    ("ask", "resource", "requested", "used", "capacity"),
    [
        ({"gpus": 5}, "nvidia.com/gpu", 5, 4, 8),
        (requests(cpu="111500m"), "cpu", 111500, 1000, 112000),
        (requests(memory="3Ti"), "memory", 3 << 40, 0, 2 << 40),
    ],
)
def test_the_kubelet_refuses_what_does_not_fit(
    client: Client, ask: Json, resource: str, requested: int, used: int, capacity: int
) -> None:
    client.run_pod("first", gpus=4)
    client.run_pod("second", **ask)
    status = client.wait_phase("second", "Failed")["status"]
    assert status["reason"] == f"OutOf{resource}"
    told = f"{resource}, requested: {requested}, used: {used}, capacity: {capacity}"
    assert status["message"] == f"Pod was rejected: Node didn't have enough resource: {told}"
    assert "containerStatuses" not in status


def test_a_node_takes_so_many_pods(client: Client) -> None:
    client.merge(f"{NODES}/node-00000/status", {"status": {"allocatable": {"pods": "1"}}})
    client.run_pod("first")
    client.run_pod("second")
    assert client.wait_phase("second", "Failed")["status"]["reason"] == "OutOfpods"


def test_an_ended_pod_gives_its_devices_back(client: Client) -> None:
    client.run_pod("first", gpus=8, annotations={"run-seconds": 0.1})
    client.wait_phase("first", "Succeeded")
    client.run_pod("second", gpus=8)
    assert observed(client.wait_phase("second", "Running")) == list(range(8))


def test_named_devices_are_given(client: Client) -> None:
    client.run_pod("exact", gpus=2, annotations=named(6, 3, nic=5))
    client.run_pod("lowest", gpus=2)
    assert observed(client.wait_phase("exact", "Running")) == [6, 3]
    assert observed(client.wait_phase("lowest", "Running")) == [0, 1]
    holders = {
        row["index"]: [held["pod"] for held in row["holders"]]
        for row in client.order("devices", method="GET")["node-00000"]
    }
    assert holders[6] == holders[3] == ["default/exact"]
    assert holders[0] == ["default/lowest"]
    assert holders[7] == []


def test_devices_named_in_the_binding_count(client: Client) -> None:
    client.create(PODS, pod("a", gpus=1))
    client.bind("a", "node-00000", annotations=named(4))
    assert observed(client.wait_phase("a", "Running")) == [4]


def test_a_device_in_use_is_not_given_twice(client: Client) -> None:
    client.run_pod("first", gpus=1, annotations=named(2))
    client.run_pod("second", gpus=1, annotations=named(2))
    status = client.wait_phase("second", "Failed")["status"]
    assert status["reason"] == "UnexpectedAdmissionError"
    assert "GPU 2 is in use by default/first" in status["message"]


def test_shares_add_up_to_one(client: Client) -> None:
    for name, milli in (("a", 600), ("b", 400), ("c", 1)):
        client.run_pod(name, annotations=named(1, kind="share", milli=milli))
    client.wait_phase("a", "Running")
    client.wait_phase("b", "Running")
    assert "no share of 1/1000 left" in client.wait_phase("c", "Failed")["status"]["message"]


def test_a_counting_node_takes_the_lowest_free(client: Client) -> None:
    client.merge(f"{NODES}/node-00000", {"metadata": {"annotations": {"emulator.muster.dev/binding": "count"}}})
    client.run_pod("a", gpus=1, annotations=named(5))
    assert observed(client.wait_phase("a", "Running")) == [0]


def test_an_unhealthy_gpu_lowers_what_is_allocatable(client: Client) -> None:
    client.order("nodes/node-00000/gpus/0", {"healthy": False, "xid": 79})
    node = client.read(f"{NODES}/node-00000")
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "7"
    assert node["status"]["capacity"]["nvidia.com/gpu"] == "8"
    assert orjson.loads(node["metadata"]["annotations"]["muster.scheduler/topology"])["gpus"][0]["healthy"] is False
    client.run_pod("a", gpus=1)
    assert observed(client.wait_phase("a", "Running")) == [1]
    client.order("nodes/node-00000/gpus/0", {"healthy": True})
    assert client.read(f"{NODES}/node-00000")["status"]["allocatable"]["nvidia.com/gpu"] == "8"


def test_a_log_is_followed_to_its_end(client: Client) -> None:
    client.run_pod("a", annotations={"run-seconds": 0.4, "log-lines": 4, "progress": 100})
    client.wait_phase("a", "Running")
    with client.stream("GET", f"{PODS}/a/log", params={"follow": "true"}) as answer:
        lines = list(answer.iter_lines())
    assert [line.split()[1] for line in lines] == ["25/100", "50/100", "75/100", "100/100"]
    assert client.get(f"{PODS}/a/log", params={"tailLines": 1}).text.startswith("step 100/100")
    stamped = client.get(f"{PODS}/a/log", params={"timestamps": "true"}).text.split()[0]
    assert len(stamped) == len("2026-11-29T14:00:00.000000000Z")
    assert client.get(f"{PODS}/a/log", params={"previous": "true"}).status_code == 400
    assert client.get(f"{PODS}/a/log", params={"limitBytes": 4}).text == "step"


def test_the_log_of_a_pod_that_waits(client: Client) -> None:
    client.run_pod("a", annotations={"start-delay": 60})
    answer = client.get(f"{PODS}/a/log")
    assert answer.status_code == 400
    assert answer.json()["message"] == 'container "w" in pod "a" is waiting to start: ContainerCreating'


def test_a_deleted_pod_saves_its_checkpoint(client: Client) -> None:
    client.run_pod("a", annotations={"checkpoint-seconds": 0.3})
    client.wait_phase("a", "Running")
    with client.watch(PODS, fieldSelector="metadata.name=a") as events:
        next(events)
        answered = client.remove(f"{PODS}/a")
        seen = list(iter_until_deleted(events))
    assert answered["metadata"]["deletionGracePeriodSeconds"] == 30
    last = seen[-1]["object"]
    assert terminated(last)["exitCode"] == 143
    assert last["status"]["phase"] == "Failed"


def iter_until_deleted(events: Iterator[Json]) -> Iterator[Json]:
    for event in events:
        yield event
        if event["type"] == "DELETED":
            return


def test_one_that_saves_too_slowly_is_killed(client: Client) -> None:
    client.run_pod("a", annotations={"checkpoint-seconds": 60})
    client.wait_phase("a", "Running")
    with client.watch(PODS, fieldSelector="metadata.name=a") as events:
        next(events)
        client.remove(f"{PODS}/a", gracePeriodSeconds=1)
        last = list(iter_until_deleted(events))[-1]["object"]
    assert terminated(last)["exitCode"] == 137


def test_a_grace_may_be_shortened(client: Client) -> None:
    client.run_pod("a", annotations={"ignore-sigterm": "true"})
    client.wait_phase("a", "Running")
    client.remove(f"{PODS}/a")
    started = time.monotonic()
    client.remove(f"{PODS}/a", gracePeriodSeconds=1)
    client.wait_gone(f"{PODS}/a")
    assert time.monotonic() - started < 5


def test_a_lost_node_holds_its_pods(client: Client) -> None:
    client.run_pod("a", gpus=1)
    client.wait_phase("a", "Running")
    client.order("nodes/node-00000/lose")
    node = client.read(f"{NODES}/node-00000")
    ready = {row["type"]: row["status"] for row in node["status"]["conditions"]}["Ready"]
    assert ready == "Unknown"
    assert {taint["effect"] for taint in node["spec"]["taints"]} == {"NoSchedule", "NoExecute"}
    client.remove(f"{PODS}/a", gracePeriodSeconds=1)
    time.sleep(1.3)
    assert client.read(f"{PODS}/a")["metadata"]["deletionTimestamp"]
    client.order("nodes/node-00000/restore")
    client.wait_gone(f"{PODS}/a")
    assert "taints" not in client.read(f"{NODES}/node-00000")["spec"]


def test_a_machine_without_power_has_lost_its_pods(client: Client) -> None:
    client.run_pod("a", gpus=8)
    client.wait_phase("a", "Running")
    client.order("nodes/node-00000/lose", {"power_off": True})
    assert client.read(f"{PODS}/a")["status"]["phase"] == "Running"
    client.order("nodes/node-00000/restore")
    assert client.wait_phase("a", "Failed")["status"]["reason"] == "NodeShutdown"
    client.run_pod("b", gpus=8)
    client.wait_phase("b", "Running")


def test_what_runs_on_a_silent_node_runs_on(client: Client) -> None:
    client.run_pod("a", annotations={"run-seconds": 0.3})
    client.wait_phase("a", "Running")
    client.order("nodes/node-00000/lose")
    time.sleep(0.5)
    assert client.read(f"{PODS}/a")["status"]["phase"] == "Running"
    client.order("nodes/node-00000/restore")
    client.wait_phase("a", "Succeeded")


def test_pods_leave_a_lost_node_when_they_do_not_tolerate_it(client: Client) -> None:
    short = {
        "key": "node.kubernetes.io/unreachable",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 0,
    }
    client.run_pod("a", tolerations=[short])
    client.wait_phase("a", "Running")
    client.order("nodes/node-00000/lose")
    found = client.wait("a", lambda seen: "deletionTimestamp" in seen["metadata"])
    assert found["status"]["conditions"][-1]["reason"] == "DeletionByTaintManager"


def test_a_node_that_joins_becomes_ready(client: Client) -> None:
    node = {"metadata": {"name": "new", "annotations": {"emulator.muster.dev/node": "simulated"}}}
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    client.create(NODES, {**node, "status": status})
    client.run_pod("a", node="new")
    client.wait_phase("a", "Running")
    assert not client.read(f"{NODES}/new")["spec"].get("taints")


def test_a_node_that_comes_again_takes_its_pods(client: Client) -> None:
    node = client.read(f"{NODES}/node-00000")
    client.remove(f"{NODES}/node-00000")
    client.run_pod("a")
    kept = {key: node["metadata"][key] for key in ("name", "labels", "annotations")}
    client.create(NODES, {"metadata": kept, "status": node["status"]})
    client.wait_phase("a", "Running")
    time.sleep(0.3)  # past the pod garbage collector's time
    assert "deletionTimestamp" not in client.read(f"{PODS}/a")["metadata"]


def test_an_evicted_pod_goes(client: Client) -> None:
    client.run_pod("a")
    client.wait_phase("a", "Running")
    client.create(f"{PODS}/a/eviction", {"metadata": {"name": "a"}})
    client.wait_gone(f"{PODS}/a")


def test_the_demo_cluster_is_as_described() -> None:
    with running_emulator(cluster="demo") as server, Client(server.url) as client:
        nodes = client.read(NODES)["items"]
        shapes = [node["metadata"]["labels"]["node.kubernetes.io/instance-type"] for node in nodes]
        counts = {shape: shapes.count(shape) for shape in shapes}
        labels = [node["metadata"]["labels"] for node in nodes]
        unhealthy = [n for n in nodes if n["status"]["allocatable"].get("nvidia.com/gpu") == "7"]
    assert counts == {
        "dgx-h100": 6,
        "dgx-a100": 4,
        "a100-pcie-bridged": 3,
        "l40s-pcie8": 3,
        "gb200-tray": 4,
        "cpu-only": 4,
    }
    assert {row["topology.muster.dev/block"] for row in labels} == {"b0", "b1"}
    assert len({row["topology.muster.dev/rack"] for row in labels}) == 6
    assert len({row.get("nvidia.com/gpu.clique") for row in labels} - {None}) == 1
    assert len(unhealthy) == 1
