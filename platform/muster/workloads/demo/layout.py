"""What the demo consists of, as data. Its 144 GPUs are described in emulator/clusters/demo.yaml."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple


class LeafQueue(NamedTuple):
    """A leaf queue with its GPU quota."""

    name: str
    guaranteed: int
    limit: int


class DemoTenant(NamedTuple):
    """A tenant, its person, and its queues. The tenant's own guarantee is the sum of its queues'."""

    name: str
    title: str
    member: str
    limit: int
    queues: tuple[LeafQueue, ...]


TENANTS = (
    DemoTenant("vision", "Computer vision", "vera", 96, (LeafQueue("train", 32, 72), LeafQueue("eval", 16, 32))),
    DemoTenant("nlp", "Language models", "noam", 96, (LeafQueue("pretrain", 32, 80), LeafQueue("finetune", 16, 40))),
    DemoTenant("robotics", "Robotics", "rosa", 64, (LeafQueue("sim", 16, 48), LeafQueue("policy", 16, 32))),
)
ADMIN = "admin"
PRIORITIES = {"high": 80, "normal": 50, "low": 20}
DEFAULT_PRIORITY = "normal"
PRICES = {
    "H100-80GB": Decimal("3.2"),
    "A100-80GB": Decimal("1.9"),
    "A100-PCIE-80GB": Decimal("1.7"),
    "L40S-48GB": Decimal("1.1"),
    "GB200-192GB": Decimal("6.5"),
}
RESOURCES = {
    "nvidia": "nvidia.com/gpu",
    "amd": "amd.com/gpu",
    "ascend": "huawei.com/Ascend910",
    "intel": "habana.ai/gaudi",
}
