"""From the names vendors give their GPUs to our flavors."""

from __future__ import annotations

import re

from scheduler.model.catalogue import GPU_MODELS
from scheduler.model.hardware import GpuModel

_PREFIX = re.compile(r"^(nvidia|tesla|geforce|quadro|amd|instinct|huawei|intel|habana)-+")
_SUFFIX = re.compile(r"-(shared|mig-.*)$")

PRODUCTS: dict[str, str] = {
    "k80": "K80-12GB",
    "p100-pcie-16gb": "P100-16GB",
    "p100-sxm2-16gb": "P100-16GB",
    "p100": "P100-16GB",
    "v100-sxm2-16gb": "V100-16GB",
    "v100-pcie-16gb": "V100-16GB",
    "v100-sxm2-32gb": "V100-32GB",
    "v100-sxm3-32gb": "V100-32GB",
    "v100-pcie-32gb": "V100-32GB",
    "v100s-pcie-32gb": "V100-32GB",
    "v100m16": "V100-16GB",
    "v100m32": "V100-32GB",
    "t4": "T4-16GB",
    "a10": "A10-24GB",
    "a10g": "A10G-24GB",
    "a30": "A30-24GB",
    "a40": "A40-48GB",
    "a100-sxm4-40gb": "A100-40GB",
    "a100-pcie-40gb": "A100-PCIE-40GB",
    "a100-40gb": "A100-40GB",
    "a100-sxm4-80gb": "A100-80GB",
    "a100-80gb": "A100-80GB",
    "a100-80gb-pcie": "A100-PCIE-80GB",
    "a100-pcie-80gb": "A100-PCIE-80GB",
    "a800-sxm4-80gb": "A800-80GB",
    "a800-80gb-pcie": "A800-80GB",
    "l4": "L4-24GB",
    "l40s": "L40S-48GB",
    "rtx-4090": "RTX4090-24GB",
    "h20": "H20-96GB",
    "h100-80gb-hbm3": "H100-80GB",
    "h100-80gb": "H100-80GB",
    "h100-sxm5-80gb": "H100-80GB",
    "h100-mega-80gb": "H100-80GB",
    "h100-pcie": "H100-PCIE-80GB",
    "h100-nvl": "H100-NVL-94GB",
    "h800": "H800-80GB",
    "h800-sxm5-80gb": "H800-80GB",
    "h200": "H200-141GB",
    "h200-141gb": "H200-141GB",
    "b200": "B200-180GB",
    "gb200": "GB200-192GB",
    "mi300x": "MI300X-192GB",
    "mi300x-oam": "MI300X-192GB",
    "ascend910b": "Ascend-910B-64GB",
    "ascend910b3": "Ascend-910B-64GB",
    "910b": "Ascend-910B-64GB",
    "module-910b-8": "Ascend-910B-64GB",
    "module-910b-16": "Ascend-910B-64GB",
    "gaudi2": "Gaudi2-96GB",
}
"""Product name in lower case, words joined by ``-``, vendor and sharing suffixes taken off -> flavor."""


def known_model(product: str) -> GpuModel | None:
    """The flavor of a product name as a label, DRA attribute or our own annotation gives it; None if it is not known."""
    if product in GPU_MODELS:
        return GPU_MODELS[product]
    name = re.sub(r"[\s_]+", "-", product.strip().lower())
    name = _SUFFIX.sub("", name)
    while _PREFIX.match(name):
        name = _PREFIX.sub("", name)
    return GPU_MODELS.get(PRODUCTS.get(name, ""))


def model_named(
    product: str, *, memory: int = 0, compute_capability: int = 0, vendor: str = "nvidia"
) -> GpuModel | None:
    """The known flavor, else one made of what is told (None without a name or memory): new hardware is usable at once.

    `memory` in bytes, `compute_capability` in tenths.
    """
    known = known_model(product)
    if known or not product or not memory:
        return known
    name = _SUFFIX.sub("", re.sub(r"\s+", "-", product.strip()))
    return GpuModel(name, memory, compute_capability, vendor)
