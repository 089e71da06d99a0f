"""How each vendor's nodes name their accelerators: configuration rows, first match wins.

Another vendor is another row.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vendor:
    """Label keys and resource names of one vendor, in order of preference."""

    name: str
    resources: tuple[str, ...]
    """Extended resources that count its devices in a node's capacity."""
    product: tuple[str, ...]
    """Labels with the product name."""
    count: tuple[str, ...] = ()
    """Labels with the number of physical devices."""
    memory: tuple[str, ...] = ()
    """Labels with the memory of one device: a plain number counts MiB, else a quantity."""
    default: str = ""
    """Flavor where only the resource says that there are devices."""


NVIDIA = Vendor(
    "nvidia",
    resources=("nvidia.com/gpu", "nvidia.com/gpu.shared", "alibabacloud.com/gpu-count"),
    product=(
        "nvidia.com/gpu.product",
        "cloud.google.com/gke-accelerator",
        "karpenter.k8s.aws/instance-gpu-name",
        "alibabacloud.com/gpu-card-model",
    ),
    count=("nvidia.com/gpu.count", "karpenter.k8s.aws/instance-gpu-count"),
    memory=("nvidia.com/gpu.memory", "karpenter.k8s.aws/instance-gpu-memory"),
)
VENDORS: tuple[Vendor, ...] = (
    NVIDIA,
    Vendor(
        "amd",
        resources=("amd.com/gpu",),
        product=("amd.com/gpu.product-name", "beta.amd.com/gpu.product-name"),
        memory=("amd.com/gpu.vram", "beta.amd.com/gpu.vram"),
    ),
    Vendor(
        "ascend",
        resources=("huawei.com/Ascend910", "huawei.com/npu"),
        product=("accelerator-type",),
    ),
    Vendor("intel", resources=("habana.ai/gaudi",), product=("habana.ai/product",), default="Gaudi2-96GB"),
)

NVLINK_DOMAIN_LABELS = (
    "nvidia.com/gpu.clique",
    "ds.coreweave.com/nvlink.domain",
    "topology.k8s.aws/ultraserver-id",
    "accelerator.topograph.run/domain",
    "network.topology.nvidia.com/accelerator",
)
MACHINE_LABELS = ("nvidia.com/gpu.machine", "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
