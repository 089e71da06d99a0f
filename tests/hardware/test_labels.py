"""Node labels: what real nodes carry, and what follows from it."""

from pathlib import Path

import pytest
import yaml

from scheduler.model.evidence.labels import from_labels
from tests.hardware.facts import DATA

FOLDER = DATA / "k8s"
real = pytest.mark.skipif(
    not FOLDER.exists(), reason="the node files are not here: set MUSTER_TEST_DATA to their folder"
)


def read(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Labels and capacity of a captured node, a list of labels, or `key=value` lines."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    if all("=" in line and ": " not in line for line in lines):
        return {key: value for key, _, value in (line.partition("=") for line in lines)}, {}
    node = yaml.safe_load("\n".join(lines))
    if "metadata" not in node:
        return {key: str(value) for key, value in node.items()}, {}
    return node["metadata"].get("labels") or {}, (node.get("status") or {}).get("capacity") or {}


REAL = [
    # file, model, GPUs, replicas, MIG, all joined by NVLink
    ("dell_xe9680_8xh100_gfd.labels", "H100-80GB", 8, 1, {}, True),
    ("h100_vm_2gpu_k3s_gfd.labels", "H100-80GB", 2, 1, {}, False),
    ("eks_g4dn_timeslicing_gfd.labels", "T4-16GB", 1, 4, {}, False),
    ("eks_karpenter_g4dn_node.labels", "T4-16GB", 1, 1, {}, False),
    ("openshift_aws_p3_v100_node.yaml", "V100-16GB", 1, 1, {}, False),
    ("gke_k80_node.yaml", "K80-12GB", 0, 1, {}, False),
    ("alibaba_openb_node.yaml", "P100-16GB", 2, 1, {}, False),
    ("mig_mixed_7g40gb.labels", "A100-40GB", 4, 1, {"7g.40gb": 4}, True),
    ("supermicro_a100_pcie_mig_mixed.labels", "A100-PCIE-40GB", 2, 1, {"1g.5gb": 4, "2g.10gb": 2}, False),
    ("kwok_dgxa100_8gpu_node.yaml", None, 8, 1, {}, False),
    ("dell_r7525_a100_mig_single.labels", None, 0, 1, {}, False),
]


@real
@pytest.mark.parametrize(("name", "model", "count", "replicas", "mig", "joined"), REAL, ids=[row[0] for row in REAL])
def test_real_nodes(name: str, model: str | None, count: int, replicas: int, mig: dict[str, int], joined: bool) -> None:
    evidence = from_labels(*read(FOLDER / name))
    assert len(evidence.gpus) == count
    assert {gpu.model.name for gpu in evidence.gpus if gpu.model} == ({model} if model and count else set())
    assert (evidence.replicas, dict(evidence.mig)) == (replicas, mig)
    shape = evidence.shape()
    groups = shape.nvlink_groups if shape else ()
    assert (groups == ((1 << count) - 1,)) is joined


def gfd(product: str, count: int, **more: str) -> dict[str, str]:
    return {"nvidia.com/gpu.product": product, "nvidia.com/gpu.count": str(count), **more}


@pytest.mark.parametrize(
    ("product", "count", "gpus", "mig"),
    [
        pytest.param("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", 56, 8, {"1g.5gb": 56}, id="seven each"),
        pytest.param("NVIDIA-H100-80GB-HBM3-MIG-3g.40gb", 4, 2, {"3g.40gb": 4}, id="two each"),
        pytest.param("NVIDIA-A100-SXM4-40GB-MIG-2g.10gb", 6, 2, {"2g.10gb": 6}, id="three each"),
    ],
)
def test_mig_single_counts_instances(product: str, count: int, gpus: int, mig: dict[str, int]) -> None:
    evidence = from_labels(gfd(product, count))
    assert (len(evidence.gpus), dict(evidence.mig)) == (gpus, mig)


def test_mig_mixed_leaves_the_count_as_it_is() -> None:
    evidence = from_labels(gfd("NVIDIA-H100-80GB-HBM3", 8, **{"nvidia.com/mig-1g.10gb.count": "7"}))
    assert len(evidence.gpus) == 8
    assert evidence.mig == (("1g.10gb", 7),)


def test_replicas_count_only_under_time_slicing() -> None:
    mps = gfd("Tesla-T4-SHARED", 1, **{"nvidia.com/gpu.replicas": "10", "nvidia.com/gpu.sharing-strategy": "mps"})
    assert from_labels(mps).replicas == 1
    assert from_labels(gfd("Tesla-T4", 8, **{"nvidia.com/gpu.replicas": "8"})).replicas == 1


def test_capacity_counts_every_replica() -> None:
    labels = {"nvidia.com/gpu.product": "Tesla-T4-SHARED", "nvidia.com/gpu.replicas": "4"}
    labels["nvidia.com/gpu.sharing-strategy"] = "time-slicing"
    assert len(from_labels(labels, {"nvidia.com/gpu": "8"}).gpus) == 2


@pytest.mark.parametrize(
    ("labels", "capacity", "model", "count"),
    [
        pytest.param(
            {"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"}, {"amd.com/gpu": "8"}, "MI300X-192GB", 8, id="amd"
        ),
        pytest.param(
            {"beta.amd.com/gpu.product-name": "MI300X"}, {"amd.com/gpu": "8"}, "MI300X-192GB", 8, id="amd, old labels"
        ),
        pytest.param(
            {"accelerator-type": "module-910b-8"}, {"huawei.com/Ascend910": "8"}, "Ascend-910B-64GB", 8, id="ascend"
        ),
        pytest.param({}, {"habana.ai/gaudi": "8"}, "Gaudi2-96GB", 8, id="intel"),
        pytest.param(
            {"cloud.google.com/gke-accelerator": "nvidia-h100-80gb"}, {"nvidia.com/gpu": "8"}, "H100-80GB", 8, id="gke"
        ),
    ],
)
def test_other_vendors_and_clouds(labels: dict[str, str], capacity: dict[str, str], model: str, count: int) -> None:
    evidence = from_labels(labels, capacity)
    assert evidence.model is not None
    assert (evidence.model.name, len(evidence.gpus)) == (model, count)


@pytest.mark.parametrize("product", ["NVIDIA-A800-SXM4-80GB", "NVIDIA-H800", "NVIDIA-H20"])
def test_boards_that_are_built_alike_are_joined(product: str) -> None:
    shape = from_labels(gfd(product, 8)).shape()
    assert shape is not None
    assert shape.nvlink_groups == (0xFF,)


def test_a_gpu_nobody_has_described_is_usable() -> None:
    labels = gfd(
        "NVIDIA-X900-SXM9-400GB", 4, **{"nvidia.com/gpu.memory": "400000", "nvidia.com/gpu.compute.major": "13"}
    )
    model = from_labels(labels).model
    assert model is not None
    assert (model.name, model.memory, model.compute_capability) == ("NVIDIA-X900-SXM9-400GB", 400_000 << 20, 130)


def test_what_labels_do_not_tell_is_not_claimed() -> None:
    shape = from_labels(gfd("NVIDIA-L40S", 4)).shape()
    assert shape is not None
    assert (len(shape.numa_groups), len(shape.switch_groups), shape.nvlink_groups, shape.nics) == (4, 4, (), ())


def test_clique_is_the_nvlink_domain() -> None:
    labels = gfd("NVIDIA-GB200", 4, **{"nvidia.com/gpu.clique": "a1b2c3d4-e5f6-7890-abcd-ef1234567890.0"})
    evidence = from_labels(labels)
    assert evidence.nvlink_domain == "a1b2c3d4-e5f6-7890-abcd-ef1234567890.0"
    assert evidence.model is not None
    assert evidence.model.name == "GB200-192GB"


def test_a_node_without_gpus() -> None:
    evidence = from_labels({"kubernetes.io/hostname": "a"}, {"cpu": "64", "memory": "256Gi"})
    assert (evidence.gpus, evidence.source) == ((), "")
    shape = evidence.shape()
    assert shape is not None
    assert shape.gpu_count == 0
