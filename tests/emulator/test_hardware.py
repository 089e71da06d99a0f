"""The emulator's shapes against the scheduler's own table, and what a node tells of itself."""

from pathlib import Path

import orjson
import pytest

from muster.emulator import running_emulator
from muster.emulator.hardware.nodes import TOPOLOGY, NodePlan, build_node
from muster.emulator.hardware.shapes import all_shapes
from scheduler.model.catalogue import GPU_MODELS, SHAPES
from scheduler.model.hardware import Nic, discovered
from tests.emulator.client import Client


@pytest.mark.parametrize("name", sorted(all_shapes()))
def test_a_node_is_wired_as_the_scheduler_knows_its_shape(name: str) -> None:
    node = build_node(NodePlan(name="n", number=0, shape=name))
    told = orjson.loads(node["metadata"]["annotations"][TOPOLOGY])
    gpus, known = told["gpus"], SHAPES[name]
    found = discovered(
        GPU_MODELS[gpus[0]["model"]] if gpus else None,
        links=told["links"],
        numa=[gpu["numa"] for gpu in gpus],
        switch=[gpu["switch"] for gpu in gpus],
        nics=[Nic(nic["numa"], -1 if nic["switch"] is None else nic["switch"], nic["rdma"]) for nic in told["nics"]],
    )
    assert found.model == known.model
    assert found.nvlink_groups == known.nvlink_groups
    assert (found.numa_groups, found.switch_groups) == (known.numa_groups, known.switch_groups)
    assert found.nic_reach == known.nic_reach
    assert len(found.nics) == len(known.nics)
    assert (told["cpus"] * 1000, told["memory"]) == (known.cpu, known.memory)
    assert {gpu["memory"] for gpu in gpus} <= {known.model.memory if known.model else 0}


CLUSTER = """
namespaces: [team]
nodes:
  - {name: "a[0-1]", shape: l40s-pcie4, rack: r9, labels: {disk: fast}, taints: [{key: t, effect: NoSchedule}]}
others:
  - {name: agent, image: x, on: gpu, cpu: 250m}
"""


def test_a_cluster_file(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    with running_emulator(cluster=str(file)) as server, Client(server.url) as client:
        node = client.read("/api/v1/nodes/a1")
        assert client.read("/api/v1/namespaces/team")["status"]["phase"] == "Active"
        agents = client.read("/api/v1/namespaces/kube-system/pods")["items"]
    assert node["metadata"]["labels"]["disk"] == "fast"
    assert node["metadata"]["labels"]["topology.muster.dev/rack"] == "r9"
    assert node["spec"]["taints"] == [{"key": "t", "effect": "NoSchedule"}]
    assert [agent["spec"]["nodeName"] for agent in agents] == ["a0", "a1"]


@pytest.mark.parametrize(
    ("text", "told"),
    [("nodes: [{name: a, shap: x}]", "shap"), ("nodes: [{name: a, shape: x}]", "no hardware shape is named 'x'")],
)
def test_a_wrong_cluster_file_says_why(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(text)
    with pytest.raises(ValueError, match=told), running_emulator(cluster=str(file)):
        pass


def test_gpu_identities_do_not_change() -> None:
    first, second = (build_node(NodePlan(name="n", number=0, shape="dgx-h100")) for _ in range(2))
    other = build_node(NodePlan(name="m", number=1, shape="dgx-h100"))
    assert first["metadata"]["annotations"] == second["metadata"]["annotations"]
    uuids = [
        gpu["uuid"]
        for node in (first, other)
        for gpu in orjson.loads(node["metadata"]["annotations"][TOPOLOGY])["gpus"]
    ]
    assert len(set(uuids)) == 16
