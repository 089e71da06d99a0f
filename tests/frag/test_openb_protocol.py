"""Guards the openb protocol on a fraction of the trace; the figures themselves come from `make bench ONLY=openb`."""

import pytest

from scheduler.model.policy import PlacementPolicy
from tests.perf import openb_core
from tests.perf.openb_run import run
from tests.perf.openb_trace import Trace, data_directory, load

FOLDER = data_directory()
pytestmark = pytest.mark.skipif(FOLDER is None, reason="the openb trace is not here: set OPENB_DATA to its folder")


@pytest.fixture(scope="module")
def trace() -> Trace:
    assert FOLDER is not None
    return load(FOLDER, "default")


def test_the_trace_is_the_published_one(trace: Trace) -> None:
    assert (len(trace.machines), trace.machines.total_milli, len(trace.tasks)) == (1_213, 6_212_000, 8_152)


def test_nothing_is_refused_in_the_first_half_under_fragmentation(trace: Trace) -> None:
    outcome = run(trace, "fragmentation", 42, until=0.5)
    assert outcome.first_refused > 50
    assert outcome.allocated[49] == pytest.approx(49.5, abs=0.6)


def test_the_same_seed_gives_the_same_outcome(trace: Trace) -> None:
    first, second = (run(trace, "fragmentation", 7, until=0.1).allocated for _ in range(2))
    assert first == second


def test_plan_decides_as_the_replay_does(trace: Trace) -> None:
    planned = openb_core.run(trace, PlacementPolicy.FRAGMENTATION, 42, until=0.15)
    assert planned.allocated == run(trace, "fragmentation", 42, until=0.15).allocated


def test_refused_tasks_allocate_nothing(trace: Trace) -> None:
    outcome = run(trace, "random", 42, until=0.9)
    assert outcome.first_refused < 90
    assert max(outcome.allocated.values()) < 89
