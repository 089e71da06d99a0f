"""The state file: what a restart keeps."""

import time
from pathlib import Path

import pytest

from muster.emulator import running_emulator
from tests.emulator.client import PODS, Client, terminated
from tests.emulator.test_processes import IMAGE, eventually, python


def test_objects_versions_and_uids_stay(tmp_path: Path) -> None:
    state = tmp_path / "cluster.json"
    with running_emulator(nodes=1, state=state) as server, Client(server.url) as client:
        client.run_pod("a", gpus=1)
        before = client.wait_phase("a", "Running")
        version = client.read(PODS)["metadata"]["resourceVersion"]
    with running_emulator(nodes=5, state=state) as server, Client(server.url) as client:
        assert client.read(f"{PODS}/a") == before
        assert len(client.read("/api/v1/nodes")["items"]) == 1
        with client.watch(PODS, resourceVersion=str(int(version) - 1)) as events:
            assert next(events)["object"]["code"] == 410
        client.run_pod("b", gpus=8)
        assert client.wait_phase("b", "Failed")["status"]["reason"] == "OutOfnvidia.com/gpu"


def test_a_simulated_pod_runs_on_meanwhile(tmp_path: Path) -> None:
    state = tmp_path / "cluster.json"
    with running_emulator(nodes=1, state=state) as server, Client(server.url) as client:
        client.run_pod("a", annotations={"run-seconds": 1, "log-lines": 2})
        client.wait_phase("a", "Running")
    time.sleep(1)
    with running_emulator(state=state) as server, Client(server.url) as client:
        started = time.monotonic()
        assert terminated(client.wait_phase("a", "Succeeded"))["exitCode"] == 0
        assert time.monotonic() - started < 0.9
        assert client.get(f"{PODS}/a/log").text == "line 1/2\nline 2/2\n"


def test_a_process_pod_is_lost_with_its_process(tmp_path: Path) -> None:
    state = tmp_path / "cluster.json"
    with running_emulator(nodes=1, state=state) as server, Client(server.url) as client:
        client.run_pod("a", gpus=8, image=IMAGE, command=python("import time; time.sleep(60)"))
        client.wait_phase("a", "Running")
    with running_emulator(state=state) as server, Client(server.url) as client:
        found = client.wait_phase("a", "Failed")
        assert found["status"]["reason"] == "NodeShutdown"
        assert terminated(found)["exitCode"] == 137
        client.run_pod("b", gpus=8)
        client.wait_phase("b", "Running")


def test_a_lost_node_stays_lost(tmp_path: Path) -> None:
    state = tmp_path / "cluster.json"
    with running_emulator(nodes=1, state=state) as server, Client(server.url) as client:
        client.run_pod("a")
        client.wait_phase("a", "Running")
        client.order("nodes/node-00000/lose")
        client.remove(f"{PODS}/a", gracePeriodSeconds=1)
    with running_emulator(state=state) as server, Client(server.url) as client:
        assert client.read(f"{PODS}/a")["metadata"]["deletionTimestamp"]
        client.order("nodes/node-00000/restore")
        client.wait_gone(f"{PODS}/a")


def test_a_change_is_written_soon(tmp_path: Path) -> None:
    state = tmp_path / "cluster.json"
    with running_emulator(nodes=1, state=state, state_delay=0.05) as server, Client(server.url) as client:
        client.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "written-soon"}})
        eventually(lambda: state.is_file() and b"written-soon" in state.read_bytes())


def test_a_file_that_cannot_be_read_is_not_overwritten(tmp_path: Path) -> None:
    state = tmp_path / "cluster.json"
    state.write_text('{"format": 1, "obj')
    with pytest.raises(ValueError, match="cannot be read"), running_emulator(state=state):
        pass
    assert state.read_text() == '{"format": 1, "obj'
