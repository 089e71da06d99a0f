"""plan() by itself: decisions per second, gangs, refusals and whole cycles, on worlds of 10 to 10,000 nodes.

Times are CPU time of this process, best of a few runs: the machine is shared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from scheduler.cycle import plan
from scheduler.model.jobs import TopologyNeeds, Want
from scheduler.model.plan import Plan
from scheduler.model.policy import Policy
from scheduler.model.snapshot import Changes, Snapshot
from tests.perf.core_worlds import MIXED, fifty_shapes, half_full, job, make_nodes, world

SIZES = (10, 100, 1_000, 5_000, 10_000)
RACK, BLOCK = TopologyNeeds("rack", Want.REQUIRED), TopologyNeeds("block", Want.REQUIRED)

Row = dict[str, Any]


def rows() -> Iterator[Row]:
    """All benchmarks of the core."""
    yield from _single_plans()
    for nodes in SIZES:
        yield _one_gpu(nodes)
        yield _gang(nodes)
        yield _refusal(nodes)
        yield _cycle(nodes)
    yield from _changes()
    yield from _large_gangs()


def row(name: str, value: float, unit: str, *, reference: float | None = None, source: str = "aim") -> Row:
    better = "higher" if unit.endswith("/s") else "lower"
    digits = 1 if value >= 100 else 4
    return {
        "name": name, "value": round(value, digits), "unit": unit, "better": better, "reference": reference, "source": source,
    }  # fmt: skip


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Least CPU time of several runs."""
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def decide(snapshot: Snapshot) -> Plan:
    return plan(snapshot, Policy(), now=0.0)


def _single_plans() -> Iterator[Row]:
    for label, nodes in (("1k", 1_000), ("10k", 10_000)):
        snapshot = world(make_nodes(nodes, half_full(nodes)), [job()])
        taken = seconds(lambda s=snapshot: decide(s))
        yield row(f"core.plan1_{label}", taken * 1_000, "ms", reference=1.0 if label == "10k" else None)
    for gpus in (2, 8):
        nodes_100 = make_nodes(100, half_full(100))
        kept = world(nodes_100, [job(gpus)])
        yield row(f"core.plan{gpus}_100.kept", _p95(lambda s=kept: decide(s)) * 1_000, "ms", reference=1.0)
        anew = _p95(lambda n=nodes_100, g=gpus: decide(world(n, [job(g)])))
        yield row(f"core.plan{gpus}_100.anew", anew * 1_000, "ms")


def _p95(work: Callable[[], object], repeats: int = 60) -> float:
    return float(np.quantile([seconds(work, 1) for _ in range(repeats)], 0.95))


def _one_gpu(nodes: int) -> Row:
    """One-GPU decisions per second while half the GPUs are in use."""
    jobs = min(2_000, nodes * 2)
    snapshot = world(make_nodes(nodes, half_full(nodes)), [job()] * jobs)
    return row(f"core.one_gpu.{nodes}", jobs / seconds(lambda: decide(snapshot), 3), "decisions/s", reference=10_000)


def _gang(nodes: int) -> Row:
    """64 workers of eight GPUs in one block (a rack holds sixteen nodes)."""
    taken = half_full(nodes)
    taken[: 128 * (nodes // 512)] = 0
    snapshot = world(make_nodes(nodes, taken, ("dgx-h100",)), [job(8, 64, topology=BLOCK)])
    return row(f"core.gang64x8.{nodes}", seconds(lambda: decide(snapshot)) * 1_000, "ms", reference=5.0)


def _refusal(nodes: int) -> Row:
    """Proof that a gang fits in no rack, though there are enough free nodes in all."""
    snapshot = world(make_nodes(nodes, half_full(nodes), ("dgx-h100",)), [job(8, 15, topology=RACK)])
    return row(f"core.refusal.{nodes}", seconds(lambda: decide(snapshot)) * 1_000, "ms", reference=2.0)


def _cycle(nodes: int) -> Row:
    """10,000 waiting jobs of fifty shapes on nodes so full that, of 10,000, about a thousand jobs start."""
    shapes, rng = fifty_shapes(), np.random.default_rng(1)
    taken = np.where(rng.random(nodes) < 0.7, 255, half_full(nodes)).astype(np.uint32)
    snapshot = world(make_nodes(nodes, taken), [shapes[i] for i in rng.integers(0, len(shapes), 10_000)])
    return row(f"core.cycle.{nodes}", seconds(lambda: decide(snapshot), 1), "s", reference=1.0)


def _changes() -> Iterator[Row]:
    """A snapshot kept in memory follows a hundred changed nodes and jobs."""
    count = 10_000
    snapshot = world(make_nodes(count, half_full(count)), [job()] * 10_000)
    rng = np.random.default_rng(2)
    nodes, jobs = np.sort(rng.choice(count, 50, replace=False)), np.sort(rng.choice(10_000, 50, replace=False))
    changes = Changes(nodes=snapshot.nodes.take(nodes), waiting=snapshot.waiting.take(jobs))

    def follow() -> None:
        after = snapshot.changed(changes)
        assert after.layout.nodes is after.nodes
        assert after.occupancy.free is not None

    yield row("core.change_100", seconds(follow) * 1_000, "ms", reference=20.0)


def _large_gangs() -> Iterator[Row]:
    sizes, times = (250, 500, 1_000, 2_000, 4_000), []
    for workers in sizes:
        snapshot = world(make_nodes(5_000, shapes=MIXED[:1]), [job(8, workers)])
        times.append(seconds(lambda s=snapshot: decide(s), 3))
        yield row(f"core.gang.{workers}", times[-1] * 1_000, "ms")
    exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    yield row("core.gang.exponent", float(exponent), "power of workers", reference=1.0)
