"""The Alibaba openb trace (cluster-trace-gpu-v2023): its nodes, its tasks, and the order in which they arrive.

The CSVs are for research and study only and never part of this repository: they are read where they lie.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scheduler.model.columns import IntArray
from scheduler.model.resources import MILLI_PER_GPU
from scheduler.score.frag.mix import TaskShape

SOURCE = "Alibaba openb trace; protocol of Weng et al., USENIX ATC 2023"
_MIB = 1 << 20


def data_directory() -> Path | None:
    """Where the trace lies: OPENB_DATA, or the folder beside the checkout; None where there is none."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data" / "openb"
    found = Path(os.environ.get("OPENB_DATA", beside))
    return found if (found / "openb_node_list_gpu_node.csv").exists() else None


@dataclass(frozen=True)
class Machines:
    """All GPU nodes, in the file's order."""

    cpu: IntArray
    memory: IntArray
    gpus: IntArray
    model: IntArray
    models: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.gpus)

    @property
    def total_milli(self) -> int:
        return int(self.gpus.sum()) * MILLI_PER_GPU


@dataclass(frozen=True)
class Trace:
    """One variant: nodes, and the shape of every task."""

    machines: Machines
    tasks: tuple[TaskShape, ...]

    def arrivals(self, rng: np.random.Generator, until: float) -> Iterator[TaskShape]:
        """Every task once in random order, then tasks drawn with replacement until `until` of all GPUs is asked for."""
        arrived, goal = 0, until * self.machines.total_milli
        for task in rng.permutation(len(self.tasks)):
            if arrived >= goal:
                return
            yield self.tasks[task]
            arrived += asked(self.tasks[task])
        while arrived < goal:
            task = int(rng.integers(len(self.tasks)))
            yield self.tasks[task]
            arrived += asked(self.tasks[task])


def asked(task: TaskShape) -> int:
    """Milli-GPU of one task."""
    return task.gpus * task.milli


def load(folder: Path, variant: str) -> Trace:
    """Nodes and tasks of a variant such as ``default`` or ``multigpu50``."""
    machines = _machines(_rows(folder / "openb_node_list_gpu_node.csv"))
    tasks = _rows(folder / f"openb_pod_list_{variant}.csv")
    return Trace(machines, tuple(_task(row) for row in tasks))


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _machines(rows: list[dict[str, str]]) -> Machines:
    models = tuple(sorted({row["model"] for row in rows}))
    return Machines(
        cpu=np.array([int(row["cpu_milli"]) for row in rows]),
        memory=np.array([int(row["memory_mib"]) * _MIB for row in rows]),
        gpus=np.array([int(row["gpu"]) for row in rows]),
        model=np.array([models.index(row["model"]) for row in rows]),
        models=models,
    )


def _task(row: dict[str, str]) -> TaskShape:
    gpus = int(row["num_gpu"])
    return TaskShape(
        gpus=gpus,
        milli=int(row["gpu_milli"]) if gpus else 0,
        cpu=int(row["cpu_milli"]),
        memory=int(row["memory_mib"]) * _MIB,
        models=tuple(filter(None, (row.get("gpu_spec") or "").split("|"))),
    )
