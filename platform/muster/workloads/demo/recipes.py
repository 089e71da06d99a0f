"""The kinds of job that the demo's people submit, as data."""

from __future__ import annotations

from typing import Any, NamedTuple


class Recipe(NamedTuple):
    """A kind of job. `weight` says how often it comes, `minutes` between which times it runs, `keys` what else its file holds."""

    name: str
    owner: str
    queue: str
    weight: int
    minutes: tuple[float, float]
    keys: dict[str, Any]


RECIPES = (
    Recipe("resnet-ablation", "vera", "vision/train", 6, (2, 8), {"gpus": 1}),
    Recipe(
        "detr-pretrain",
        "vera",
        "vision/train",
        3,
        (5, 15),
        {"workers": 2, "gpus": "A100:8", "topology": {"preferred": "rack"}},
    ),
    Recipe(
        "vit-huge",
        "vera",
        "vision/train",
        2,
        (8, 20),
        {"workers": 3, "gpus": "H100:8", "topology": {"required": "rack"}},
    ),
    Recipe("coco-eval", "vera", "vision/eval", 8, (1, 4), {"gpus": "L40S:1"}),
    Recipe("video-eval", "vera", "vision/eval", 3, (2, 6), {"gpus": "L40S:4"}),
    Recipe("feature-extraction", "vera", "vision/eval", 2, (2, 6), {"cpus": 16, "memory": "32Gi"}),
    Recipe("llama-pretrain", "noam", "nlp/pretrain", 2, (10, 25), {"workers": 4, "gpus": "H100:8", "priority": "high"}),
    Recipe(
        "moe-scaling",
        "noam",
        "nlp/pretrain",
        2,
        (8, 20),
        {"workers": 4, "gpus": "GB200:4", "topology": {"preferred": "nvlink_domain"}},
    ),
    Recipe("tokenizer", "noam", "nlp/pretrain", 2, (1, 3), {"cpus": 32, "memory": "64Gi"}),
    Recipe("lora-sweep", "noam", "nlp/finetune", 7, (2, 7), {"gpus": 2, "gpu": {"nvlink": "preferred"}}),
    Recipe(
        "rlhf", "noam", "nlp/finetune", 3, (5, 12), {"workers": 2, "gpus": "A100:4", "topology": {"preferred": "host"}}
    ),
    Recipe("instruct-ft", "noam", "nlp/finetune", 3, (4, 10), {"gpus": "A100:8", "priority": "high"}),
    Recipe("isaac-sim", "rosa", "robotics/sim", 6, (2, 6), {"gpus": "L40S:2", "priority": "low"}),
    Recipe("world-model", "rosa", "robotics/sim", 2, (6, 14), {"workers": 2, "gpus": "A100-PCIE:8", "spread": True}),
    Recipe("grasp-policy", "rosa", "robotics/policy", 5, (2, 8), {"gpus": 4}),
    Recipe("locomotion", "rosa", "robotics/policy", 3, (4, 10), {"workers": 2, "gpus": 2}),
)

# Larger than the cluster, or than a queue's limit: they show what the platform says then.
TOO_LARGE = (
    Recipe("frontier-run", "noam", "nlp/pretrain", 1, (20, 30), {"workers": 12, "gpus": "H100:8"}),
    Recipe("gigapixel", "vera", "vision/eval", 1, (10, 20), {"workers": 5, "gpus": "L40S:8"}),
)
