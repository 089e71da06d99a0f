"""Sample rows for the components of the styleguide."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from muster.common.clock import now

STATES = ["queued", "held", "starting", "running", "stopping", "succeeded", "failed", "cancelled"]
COLOURS = ["bg", "rail", "surface", "raised", "sunken", "line", "text", "text-2", "text-3", "accent"]
LOG = "\n".join(
    [
        "\x1b[36m[rank 0]\x1b[0m loading checkpoint \x1b[1mckpt/step-41200\x1b[0m",
        *(
            f"step {41200 + i * 10}  loss {2.31 - i * 0.004:.4f}  lr 1.2e-4  tokens/s {182_000 + i * 37:,}"
            for i in range(60)
        ),
        "\x1b[33mWARNING\x1b[0m gradient norm 8.1 clipped to 1.0",
        "epoch 3:  12%|##        |\repoch 3:  64%|######    |\repoch 3: 100%|##########|",
        "Traceback (most recent call last): RuntimeError: CUDA error: an illegal memory access was encountered",
        "x" * 20_000,
    ]
)
YAML = """name: llama-ft
queue: finetune
template: pytorch-ddp
image: registry/train:1
command: [torchrun, train.py]  # one process per GPU
workers: 4
gpus: H100:8
topology: {preferred: rack}
walltime: 8h
"""


JOBS = [
    ("llama-ft", "finetune", "running", 32, "4/4", "3 h 12 min"),
    ("vit-large-patch14-336", "train", "running", 8, "1/1", "41 min"),
    ("whisper-distil", "train", "queued", 64, "0/8", "12 min"),
    ("reward-model-v3", "pretrain", "starting", 128, "9/16", "8 s"),
    ("sweep-lr-007", "eval", "failed", 1, "0/1", "2 d 4 h"),
    ("a-name-that-takes-sixty-characters-because-people-do-so", "notebooks", "held", 2, "0/1", "6 min"),
]


def jobs() -> list[dict[str, Any]]:
    names = ("name", "queue", "state", "gpus", "workers", "age")
    return [dict(zip(names, row, strict=True)) for row in JOBS]


def steps() -> list[dict[str, Any]]:
    return [
        {"label": "Submitted", "done": True, "note": "14:02:11"},
        {"label": "Queued", "done": True, "note": "for 3 min 12 s"},
        {"label": "Starting", "current": "starting", "note": "9 of 16 workers"},
        {"label": "Running", "note": ""},
        {"label": "Done", "note": ""},
    ]


def events() -> list[dict[str, Any]]:
    at = now()
    rows = [
        ("good", "Running: all 4 workers have started", "", 2),
        ("", "Placed on 4 nodes of rack r2, NVLink whole", "h100-08, h100-09, h100-10, h100-11", 3),
        ("warn", "Waited: 32 GPUs asked for, 24 were free in queue finetune", "", 9),
        ("", "Submitted by ada", "", 120),
    ]
    return [
        {"level": level, "text": text, "note": note, "at": at - timedelta(minutes=ago)}
        for level, text, note, ago in rows
    ]


def series() -> dict[str, Any]:
    start, count = int(now().timestamp()) - 86_400, 96
    used = [round(140 + 30 * math.sin(i / 9) + 12 * math.sin(i / 2.3)) for i in range(count)]
    asked = [one + 14 + i % 9 for i, one in enumerate(used)]
    return {
        "at": [start + i * 900 for i in range(count)],
        "series": [{"name": "in use", "values": used}, {"name": "asked for", "values": asked}],
    }


def diff() -> list[dict[str, str]]:
    lines = [("", "finetune:"), ("del", "  guaranteed: 16"), ("add", "  guaranteed: 24"), ("", "  limit: 64")]
    return [{"kind": kind, "text": text} for kind, text in lines]
