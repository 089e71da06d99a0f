"""How the cost of a plan grows with nodes and with different shapes of waiting jobs: exponents, and a plot of the curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from scheduler.model.jobs import TopologyNeeds, Want
from scheduler.model.snapshot import Snapshot
from tests.perf.core_times import Row, decide, row, seconds
from tests.perf.core_worlds import half_full, job, make_nodes, world

PLOT = Path(__file__).resolve().parents[2] / "build" / "core-growth.png"
NODES = (250, 500, 1_000, 2_500, 5_000, 10_000)
SHAPES = (10, 20, 50, 100, 200)
Curve = tuple[str, Sequence[int], list[float]]


def rows() -> Iterator[Row]:
    """One exponent per curve: 1 = linear, less is better."""
    curves = [
        _curve("plan of one job", NODES, lambda n: world(make_nodes(n, half_full(n)), [job()])),
        _curve("plan of 500 jobs", NODES, lambda n: world(make_nodes(n, half_full(n)), [job()] * 500)),
        _curve("refusal of a gang", NODES, _refused),
        _curve("2,000 jobs of so many shapes", SHAPES, _many_shapes),
    ]
    _draw(curves)
    for (label, sizes, times), name in zip(curves, ("one", "jobs", "refusal", "shapes"), strict=True):
        exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        over = "shapes" if name == "shapes" else "nodes"
        yield row(f"core.growth.{name}", exponent, f"power of {over}", reference=1.0, source=f"linear ({label})")


def _curve(label: str, sizes: Sequence[int], make: Callable[[int], Snapshot]) -> Curve:
    return label, sizes, [seconds(lambda s=make(size): decide(s), 3) for size in sizes]


def _refused(nodes: int) -> Snapshot:
    rack = TopologyNeeds("rack", Want.REQUIRED)
    return world(make_nodes(nodes, half_full(nodes), ("dgx-h100",)), [job(8, 15, topology=rack)])


def _many_shapes(count: int) -> Snapshot:
    """Shapes differ by their CPUs, so that each has tables of its own."""
    shapes = [job(1 + number % 4, cores=1 + number) for number in range(count)]
    return world(make_nodes(1_000, half_full(1_000)), [shapes[number % count] for number in range(2_000)])


def _draw(curves: Sequence[Curve]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for label, sizes, times in curves:
        axes.loglog(sizes, np.array(times) * 1_000, marker="o", label=label)
    axes.set_xlabel("nodes, or different shapes")
    axes.set_ylabel("ms of CPU time")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    PLOT.parent.mkdir(exist_ok=True)
    figure.savefig(PLOT, dpi=120, bbox_inches="tight")
    pyplot.close(figure)
    print(f"plot in {PLOT}")
