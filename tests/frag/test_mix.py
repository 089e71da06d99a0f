"""The mix that is learned, and the table φ of what a rest of a GPU is worth."""

import numpy as np
import pytest

from muster.cycle.mix import counted, typical_mix, usable_share
from scheduler.score.frag.mix import TaskShape, WorkloadMix


def share(milli: int) -> TaskShape:
    return TaskShape(1, milli, 1_000)


def test_typical_shapes_are_the_frequent_ones_renormalised() -> None:
    tasks = [share(500)] * 60 + [share(250)] * 36 + [share(330)] * 4
    mix = typical_mix(counted(tasks), cover=0.95)
    assert [task.milli for task, _ in mix] == [500, 250]
    assert sum(popularity for _, popularity in mix) == pytest.approx(1)


def test_equally_frequent_shapes_have_a_fixed_order() -> None:
    mix = typical_mix({share(500): 1, share(250): 1, share(750): 1}, cover=1.0)
    assert [task.milli for task, _ in mix] == [250, 500, 750]


@pytest.mark.parametrize(
    ("mix", "left", "expected"),
    [
        pytest.param(((share(500), 1.0),), 499, 0.0, id="less than the only size is worth nothing"),
        pytest.param(((share(500), 1.0),), 500, 0.5, id="a half"),
        pytest.param(
            ((share(810), 1.0), (share(1000), 1.0)), 810, 1.0, id="what 810 leaves is lost, so 810 costs a GPU"
        ),
        pytest.param(((share(810), 1.0), (share(1000), 1.0)), 190, 0.0, id="and 190 is worth nothing"),
        pytest.param(
            ((share(700), 2.0), (share(300), 1.0)), 300, 0.0, id="fewer 300s than 700s cost nothing: they fill rests"
        ),
        pytest.param(
            ((share(700), 1.0), (share(300), 2.0)), 300, 1 / 3, id="more 300s than 700s cost a third of a GPU each"
        ),
    ],
)
def test_a_rest_is_worth_the_price_of_what_fits(mix: WorkloadMix, left: int, expected: float) -> None:
    assert usable_share(mix)[left] == pytest.approx(expected, abs=1e-6)


def test_phi_never_falls_and_ends_at_one_gpu() -> None:
    rng = np.random.default_rng(1)
    mix = tuple((share(int(size)), float(rng.random())) for size in rng.integers(50, 1000, size=12))
    phi = usable_share(mix)
    assert (np.diff(phi) >= 0).all()
    assert phi[0] == 0
    assert phi[1000] == pytest.approx(1)


def test_a_mix_without_shares_wastes_nothing() -> None:
    assert usable_share(((TaskShape(8, 1000), 1.0),)) == pytest.approx(np.arange(1001) / 1000)
