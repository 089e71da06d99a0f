"""DRA slices, the agent's annotation, and how sources are put together."""

from typing import Any

import pytest
import yaml

from scheduler.model.evidence.annotation import from_annotation
from scheduler.model.evidence.best import NodeSources, best_evidence
from scheduler.model.evidence.dra import from_slices
from scheduler.model.evidence.found import EvidenceError
from tests.hardware.facts import DATA

AKS = DATA / "k8s" / "aks_dra_resourceslices_a100_and_mig.yaml"
FULL = DATA / "k8s" / "dra_full_gpu_device_attributes.yaml"
H100 = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "2"}


def device(index: int, **attributes: Any) -> dict[str, Any]:
    told = {"type": "gpu", "uuid": f"GPU-{index}", "productName": "NVIDIA H100 80GB HBM3"} | attributes
    return {
        "name": f"gpu-{index}",
        "attributes": {name: {"string": value} for name, value in told.items()},
        "capacity": {"memory": {"value": "80Gi"}},
    }


def piece(devices: list[dict[str, Any]], generation: int = 1, count: int = 1) -> dict[str, Any]:
    pool = {"name": "node-a", "generation": generation, "resourceSliceCount": count}
    return {"spec": {"driver": "gpu.nvidia.com", "nodeName": "node-a", "pool": pool, "devices": devices}}


def annotation(**more: Any) -> dict[str, Any]:
    gpu = {
        "model": "H100-80GB",
        "memory": 80 << 30,
        "compute_capability": "9.0",
        "numa": 0,
        "switch": 0,
        "healthy": True,
    }
    told = {
        "gpus": [gpu | {"index": i, "uuid": f"GPU-{i}"} for i in range(2)],
        "links": [["X", "NV18"], ["NV18", "X"]],
        "nics": [{"index": 0, "name": "mlx5_0", "numa": 0, "switch": 0, "rdma": True}],
        "cpus": 112,
        "memory": 2 << 40,
        "shape": "hgx",
    }
    return told | more


def test_the_first_beta_wraps_a_device() -> None:
    told = device(0)
    wrapped = {"name": told.pop("name"), "basic": told}
    assert from_slices([piece([wrapped])]) == from_slices([piece([device(0)])])


@pytest.mark.skipif(not AKS.exists(), reason="the ResourceSlices are not here: set MUSTER_TEST_DATA to their folder")
def test_real_slices() -> None:
    slices = yaml.safe_load(AKS.read_text())["items"]
    whole, parted = (from_slices([one]) for one in slices)
    assert [(gpu.index, gpu.model.name if gpu.model else "") for gpu in whole.gpus] == [(1, "A100-PCIE-80GB")]
    assert [gpu.uuid for gpu in parted.gpus] == ["GPU-00000000-0000-0000-0000-000000000003"], (
        "known by its instance alone"
    )


@pytest.mark.skipif(not FULL.exists(), reason="the ResourceSlices are not here: set MUSTER_TEST_DATA to their folder")
def test_every_attribute_of_a_full_gpu() -> None:
    gpu = from_slices([piece([yaml.safe_load(FULL.read_text())])]).gpus[0]
    assert gpu.model is not None
    assert (gpu.index, gpu.model.name, gpu.switch) == (0, "A30-24GB", 0)


def test_only_the_newest_complete_generation_counts() -> None:
    old, new = piece([device(0), device(1)], generation=1), piece([device(0)], generation=2)
    assert len(from_slices([old, new]).gpus) == 1
    half = from_slices([old, piece([device(0)], generation=3, count=2)])
    assert half.gpus == ()
    assert half.problems == ("dra: pool node-a has 1 of 2 slices of generation 3",)


def test_slices_of_other_drivers_are_not_gpus() -> None:
    other = piece([device(0)])
    other["spec"]["driver"] = "dra.example.com"
    assert from_slices([other]).gpus == ()


def test_gpus_on_one_root_complex_share_a_switch() -> None:
    roots = ["pci0000:3a", "pci0000:3a", "pci0000:7b"]
    devices = [device(i, **{"resource.kubernetes.io/pcieRoot": root}) for i, root in enumerate(roots)]
    assert [gpu.switch for gpu in from_slices([piece(devices)]).gpus] == [0, 0, 1]


def test_a_tainted_device_is_unhealthy() -> None:
    broken = device(0) | {"taints": [{"key": "gpu.nvidia.com/xid", "effect": "NoExecute"}]}
    gpu = from_slices([piece([broken])]).gpus[0]
    assert (gpu.healthy, gpu.reason) == (False, "tainted by its driver: gpu.nvidia.com/xid")


def test_possible_instances_are_not_counted_as_existing() -> None:
    attributes = {"type": {"string": "mig"}, "profile": {"string": "1g.10gb"}}
    possible = {"name": "gpu-0-mig-1g10gb-19-0", "attributes": attributes}
    existing = {"name": "gpu-1-mig-1g10gb-19-0", "attributes": {**attributes, "uuid": {"string": "MIG-1"}}}
    assert from_slices([piece([device(0), device(1), possible, existing])]).mig == (("1g.10gb", 1),)


def test_annotation_tells_everything() -> None:
    evidence = from_annotation(annotation())
    shape = evidence.shape()
    assert shape is not None
    assert (shape.name, shape.nvlink_groups, shape.nic_reach) == ("hgx", (0b11,), 0b11)
    assert (shape.cpu, shape.memory, evidence.source) == (112_000, 2 << 40, "annotation")


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(annotation(links=[["X"]]), id="matrix of another size"),
        pytest.param(annotation(gpus=[{"model": "H100-80GB"}]), id="GPU without index"),
        pytest.param(annotation(gpus="all"), id="not a list"),
        pytest.param(annotation(cpus="many"), id="not a number"),
    ],
)
def test_broken_annotation_is_passed_over_and_noted(broken: dict[str, Any]) -> None:
    with pytest.raises(EvidenceError):
        from_annotation(broken)
    evidence = best_evidence(NodeSources(annotation=broken, labels=H100))
    assert (evidence.source, len(evidence.gpus)) == ("labels", 2)
    assert evidence.problems[0].startswith("annotation: ")


def test_dra_goes_before_the_annotation_which_fills_its_gaps() -> None:
    slices = [piece([device(0), device(1)])]
    evidence = best_evidence(NodeSources(slices=slices, annotation=annotation(), labels=H100))
    shape = evidence.shape()
    assert shape is not None
    assert (evidence.source, shape.nvlink_groups, shape.numa) == ("dra", (0b11,), (0, 0))
    assert {part: str(source) for part, source in evidence.told_by} == {
        "gpus": "dra",
        "links": "annotation",
        "nics": "annotation",
    }


def test_devices_are_matched_by_uuid_not_by_number() -> None:
    swapped = [device(0, uuid="GPU-1"), device(1, uuid="GPU-0")]
    told = annotation()
    told["gpus"][0] |= {"healthy": False, "reason": "fell off the bus"}
    evidence = best_evidence(NodeSources(slices=[piece(swapped)], annotation=told))
    assert [(gpu.uuid, gpu.healthy) for gpu in evidence.gpus] == [("GPU-1", True), ("GPU-0", False)]


def test_pasted_text_fills_what_labels_leave_open() -> None:
    text = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV12\t0-7\t0\nGPU1\tNV12\t X \t8-15\t1\n"
    evidence = best_evidence(NodeSources(labels=H100, pasted=text))
    shape = evidence.shape()
    assert shape is not None
    assert (evidence.source, shape.nvlink_groups, shape.numa) == ("labels", (0b11,), (0, 1))


def test_nothing_told_is_a_node_without_gpus() -> None:
    assert best_evidence(NodeSources()).gpus == ()
