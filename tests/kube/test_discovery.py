"""Discovery on nodes as real clusters have them."""

from typing import Any

import orjson

from muster.clusters.choices import Health
from muster.kube.discovery import hardware_of

H100 = {
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    "nvidia.com/gpu.count": "8",
    "nvidia.com/gpu.memory": "81559",
    "nvidia.com/gpu.machine": "DGXH100",
    "nvidia.com/gpu.clique": "cluster.7",
}


def node(labels: dict[str, str], *, capacity: int = 8, allocatable: int = 8, **annotations: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "n", "labels": labels, "annotations": annotations},
        "status": {
            "capacity": {"cpu": "112", "nvidia.com/gpu": str(capacity)},
            "allocatable": {"cpu": "110", "nvidia.com/gpu": str(allocatable)},
        },
    }


def test_labels_suffice() -> None:
    found = hardware_of(node(H100))
    assert (found.source, found.nvlink_domain, len(found.gpus)) == ("labels", "cluster.7", 8)
    assert found.shape is not None
    assert found.shape.model is not None
    assert found.shape.model.name == "H100-80GB"
    assert {gpu.health for gpu in found.gpus} == {Health.OK}


def test_the_agents_annotation_comes_first() -> None:
    told = {
        "gpus": [{"index": 0, "model": "H100-80GB"}, {"index": 1, "model": "H100-80GB", "healthy": False}],
        "links": [["X", "NV18"], ["NV18", "X"]],
        "nics": [],
    }
    annotation = {"muster.scheduler/topology": orjson.dumps(told).decode()}
    found = hardware_of(node(H100, capacity=2, allocatable=1, **annotation))
    assert found.source == "annotation"
    assert [gpu.health for gpu in found.gpus] == [Health.OK, Health.UNHEALTHY]


def test_a_gpu_that_the_kubelet_withholds_is_not_given_out() -> None:
    """A plain device plugin lowers what is allocatable, and nobody says which GPU it was."""
    found = hardware_of(node(H100, allocatable=6))
    assert [gpu.index for gpu in found.gpus if gpu.health == Health.UNKNOWN] == [6, 7]


def test_a_node_without_gpus_has_none() -> None:
    found = hardware_of({"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "8"}}})
    assert (found.gpus, found.nics) == ((), ())


def test_an_annotation_that_cannot_be_read_is_passed_over() -> None:
    found = hardware_of(node(H100, **{"muster.scheduler/topology": "{"}))
    assert (found.source, len(found.gpus)) == ("labels", 8)
