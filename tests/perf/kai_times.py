"""The allocate worlds of KAI-Scheduler's own in-process benchmarks, rebuilt; its times stand beside ours."""

from __future__ import annotations

from collections.abc import Iterator

from tests.perf.core_times import Row, decide, row, seconds
from tests.perf.core_worlds import four_queues, job, make_nodes, world

ALLOCATE = {100: 0.29, 500: 2.68, 1_000: 9.65}
"""Seconds that KAI-Scheduler takes, by nodes."""
SOURCE = "KAI-Scheduler d5bc503a, in-process benchmark, two cores, measured 2026-11-29"


def rows() -> Iterator[Row]:
    """5 N one-GPU jobs in four queues of two departments on N empty nodes of eight GPUs."""
    for nodes, reference in ALLOCATE.items():
        snapshot = world(make_nodes(nodes, shapes=("dgx-h100",)), [job()] * (5 * nodes), four_queues(nodes))
        taken = seconds(lambda s=snapshot: decide(s), 2)
        yield row(f"kai.allocate.{nodes}", taken, "s", reference=reference, source=SOURCE)
