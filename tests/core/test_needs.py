"""GPU models: named, by feature, by vendor; plain jobs spare the best."""

import pytest

from scheduler.model.catalogue import GPU_MODELS
from scheduler.model.jobs import DeviceKind, Devices, GpuNeeds, Role
from scheduler.place.models import serving_models
from tests.core.stories import tell


@pytest.mark.parametrize(
    ("needs", "names"),
    [
        (GpuNeeds(models=("l4",)), ["L4-24GB"]),
        (GpuNeeds(models=("H20",)), ["H20-96GB"]),
        (GpuNeeds(models=("a100",)), ["A100-40GB", "A100-PCIE-40GB", "A100-80GB", "A100-PCIE-80GB"]),
        (GpuNeeds(models=("H200", "H100")), ["H200-141GB", "H100-80GB", "H100-PCIE-80GB", "H100-NVL-94GB"]),
        (GpuNeeds(vendor="AMD"), ["MI300X-192GB"]),
        (GpuNeeds(models=("Ascend-910B",)), ["Ascend-910B-64GB"]),
        (GpuNeeds(min_compute_capability=100), ["B200-180GB", "GB200-192GB"]),
        (GpuNeeds(precision=("fp4",)), ["B200-180GB", "GB200-192GB"]),
        (GpuNeeds(min_memory_bandwidth=4500), ["H200-141GB", "B200-180GB", "GB200-192GB"]),
        (GpuNeeds(min_tensor_cores=5, min_memory=185 * 2**30), ["GB200-192GB"]),
        (GpuNeeds(models=("H100",), min_memory=90 * 2**30), ["H100-NVL-94GB"]),
    ],
)
def test_models_that_serve_in_the_order_they_are_tried(needs: GpuNeeds, names: list[str]) -> None:
    role = Role(devices=Devices(DeviceKind.WHOLE, 1), gpu=needs)
    assert [model.name for model in serving_models(role, list(GPU_MODELS.values()))] == names


def test_gpus_without_a_compute_capability_go_only_to_who_names_them() -> None:
    story = tell("""
cluster: {nodes: [{name: m, shape: mi300x-8}]}
jobs:
  - {name: plain, queue: q, gpus: 1}
  - {name: named, queue: q, gpus: 1, gpu: {model: MI300X}}
  - {name: vendor, queue: q, gpus: 1, gpu: {vendor: amd}}
  - {name: nvidia, queue: q, gpus: 1, gpu: {vendor: nvidia}}
""")
    assert story.placed() == ["named", "vendor"]
    assert (story.reason("plain"), story.reason("nvidia")) == ("NoMatchingNodes", "NoMatchingNodes")


@pytest.mark.parametrize("first", ["a100-two-islands", "a100-pcie-bridged"])
def test_of_equally_capable_models_the_one_registered_first_is_tried_first(first: str) -> None:
    other = {"a100-two-islands": "a100-pcie-bridged"}.get(first, "a100-two-islands")
    story = tell(f"""
cluster: {{nodes: [{{name: a, shape: {first}}}, {{name: b, shape: {other}, others: {{gpus: [0]}}}}]}}
jobs: [{{name: one, queue: q, gpus: 1}}]
""")
    assert story.nodes("one") == ["a"]


def test_a_gang_has_one_model_per_role() -> None:
    story = tell("""
cluster: {nodes: [{name: v, shape: dgx1-v100, others: {gpus: [0, 1, 2, 3]}}, {name: h, shape: dgx-h100}]}
jobs: [{name: g, queue: q, workers: 2, gpus: 4}]
""")
    assert story.nodes("g") == ["h", "h"]
