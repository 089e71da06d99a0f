"""`nvidia-smi topo -m` pasted for a pool: checked when it is saved, and the last evidence of its nodes' wiring."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from muster.clusters import observe
from muster.clusters.actions import save_pool
from muster.clusters.discovery import BadTopology, checked_topology, reading_of
from muster.clusters.models import Node, NodePool
from muster.kube.informer.nodes import node_seen
from tests.support.builders import make_cluster, make_user

PAIRS = """\
\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV12\tSYS\tSYS\tPIX\t0-23\t0
GPU1\tNV12\t X \tSYS\tSYS\tNODE\t0-23\t0
GPU2\tSYS\tSYS\t X \tNV12\tSYS\t24-47\t1
GPU3\tSYS\tSYS\tNV12\t X \tSYS\t24-47\t1

Legend:
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:
  NIC0: mlx5_0
"""
TYPE = "node.kubernetes.io/instance-type"


def node(machine: str, gpus: int = 4) -> dict[str, Any]:
    labels = {TYPE: machine, "nvidia.com/gpu.product": "NVIDIA-A100-PCIE-80GB", "nvidia.com/gpu.count": str(gpus)}
    capacity = {"nvidia.com/gpu": str(gpus)}
    meta = {"name": f"{machine}-{gpus}", "uid": f"u-{machine}-{gpus}", "labels": labels}
    return {"metadata": meta, "spec": {}, "status": {"capacity": capacity, "allocatable": capacity}}


@pytest.mark.django_db
def test_it_wires_the_nodes_of_its_machine_type() -> None:
    cluster = make_cluster()
    NodePool.objects.create(cluster=cluster, name="bridged", selector={TYPE: "r750"}, order=0, topology=PAIRS)
    NodePool.objects.filter(name="all").update(order=1)
    reading = reading_of(cluster)
    observe.observe_nodes(cluster, [node_seen(node(*one), reading) for one in (("r750", 4), ("r750", 2), ("r650", 4))])
    rows = {one.name: one for one in Node.objects.select_related("shape", "pool")}
    bridged = rows["r750-4"]
    assert (bridged.pool.name, bridged.shape.source) == ("bridged", "labels")
    assert bridged.shape.wiring["links"][0] == [0, 12, 0, 0]
    assert bridged.shape.wiring["numa"] == [0, 0, 1, 1]
    assert [nic.name for nic in bridged.nics.all()] == ["mlx5_0"]
    # Another machine type, and one with another number of GPUs: nothing is told of them.
    for name in ("r750-2", "r650-4"):
        assert not any(map(any, rows[name].shape.wiring["links"]))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("hello", "No GPU0 column"),
        (
            PAIRS.replace("NV12\t X \tSYS\tSYS\tNODE", "NV12\t X \tSYS\tqqq\tNODE"),
            "Line 3: row GPU1: 5 links expected, qqq",
        ),
        (PAIRS.replace("GPU3\tSYS\tSYS\tNV12\t X \tSYS\t24-47\t1\n", ""), "Line 4: no row for GPU3"),
        ("\n".join(PAIRS.splitlines()[:1]), "Line 1: the header is there"),
    ],
)
def test_bad_text_is_refused_by_its_line(text: str, complaint: str) -> None:
    with pytest.raises(BadTopology) as caught:
        checked_topology(text)
    assert complaint in caught.value.message


@pytest.mark.django_db
def test_the_admin_site_takes_it_and_says_what_is_wrong() -> None:
    admin, pool = make_user("root", is_staff=True), make_cluster().pools.get()
    client = Client()
    client.force_login(admin)
    page = reverse("admin:clusters_nodepool_change", args=[pool.pk])
    form = {"cluster": pool.cluster_id, "name": "all", "order": 0, "selector": "{}", "binding": "exact", "sharing": ""}
    answer = client.post(page, form | {"topology": PAIRS.replace("PIX", "pix")})
    assert "Line 2: row GPU0: 5 links expected, pix found." in answer.content.decode()
    assert client.post(page, form | {"topology": PAIRS}).status_code == 302
    pool.refresh_from_db()
    assert "NV12" in pool.topology


@pytest.mark.django_db
def test_saving_a_pool_refuses_bad_text() -> None:
    pool = make_cluster().pools.get()
    pool.topology = "GPU0"
    with pytest.raises(BadTopology):
        save_pool(None, pool)
