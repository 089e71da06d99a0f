"""What holds of every plan, whatever the world."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scheduler.cycle import plan
from scheduler.model.applied import applied
from scheduler.model.jobs import DeviceKind
from scheduler.model.plan import Plan
from scheduler.scenario.reader import Scenario, read_scenario

from .worlds import scenarios, text_of


def read(file: dict[str, Any]) -> Scenario:
    return read_scenario(text_of(file))


def decide(scenario: Scenario) -> Plan:
    return plan(scenario.snapshot, scenario.policy, scenario.now)


def outcome(found: Plan) -> tuple[object, ...]:
    """Who starts where, and why the others wait; without names."""
    reasons = [found.verdicts[n].reason if n >= 0 else None for n in found.verdict_of.tolist()]
    return found.units, reasons


@given(scenarios())
def test_planning_again_changes_nothing(file: dict[str, Any]) -> None:
    scenario = read(file)
    after = applied(scenario.snapshot, decide(scenario), scenario.now)
    assert plan(after, scenario.policy, scenario.now).is_settled


@given(scenarios())
def test_the_same_arguments_give_the_same_plan(file: dict[str, Any]) -> None:
    assert outcome(decide(read(file))) == outcome(decide(read(file)))


@given(scenarios(), st.randoms(use_true_random=False))
def test_names_decide_nothing(file: dict[str, Any], rng: Any) -> None:
    """Ties go by registration order, never by name: other names, same plan."""
    renamed = copy.deepcopy(file)
    new_name: dict[str, str] = {}
    for things in (renamed["cluster"]["nodes"], renamed["jobs"]):
        names = [f"x{i}" for i in range(len(things))]
        rng.shuffle(names)
        for thing, name in zip(things, names, strict=True):
            new_name[thing["name"]] = name
            thing["name"] = name
    new = dict(zip(file["queues"], ["zz", "aa"], strict=True))
    renamed["queues"] = {new[name]: value for name, value in file["queues"].items()}
    for job in renamed["jobs"]:
        job["queue"] = new[job["queue"]]
        for worker in job.get("running", {}).values():
            worker["node"] = new_name[worker["node"]]
    assert outcome(decide(read(renamed))) == outcome(decide(read(file)))


@given(scenarios())
def test_every_waiting_job_starts_or_has_a_verdict(file: dict[str, Any]) -> None:
    scenario = read(file)
    found = decide(scenario)
    started = Counter(unit.job for unit in found.units)
    assert not started or max(started.values()) == 1
    for key, number in zip(scenario.snapshot.waiting.key.tolist(), found.verdict_of.tolist(), strict=True):
        assert (number < 0) == (key in started)


@given(scenarios())
def test_no_device_beyond_one_none_foreign_and_no_limit_passed(file: dict[str, Any]) -> None:
    scenario = read(file)
    snapshot, found = scenario.snapshot, decide(scenario)
    used: Counter[tuple[int, int]] = Counter()
    for unit in found.units:
        for worker in unit.workers:
            for gpu in worker.gpu_indices:
                used[worker.node, gpu] += worker.milli if worker.kind == DeviceKind.SHARE else 1000
    rows = {key: row for row, key in enumerate(snapshot.nodes.key.tolist())}
    for (node, gpu), milli in used.items():
        row = rows[node]
        barred = int(snapshot.nodes.unhealthy[row]) | int(snapshot.nodes.others_gpus[row])
        assert milli <= 1000
        assert not barred >> gpu & 1
    limit = (file["queues"]["r"] or {}).get("limit")
    if limit is not None:
        assert _gpus_of_queue(scenario, found, "r") <= limit * 1000


def _gpus_of_queue(scenario: Scenario, found: Plan, name: str) -> int:
    queue = next(queue.key for queue in scenario.snapshot.queues if queue.name == name)
    waiting = scenario.snapshot.waiting
    queues = dict(zip(waiting.key.tolist(), waiting.queue.tolist(), strict=True))
    return sum(
        worker.milli if worker.kind == DeviceKind.SHARE else 1000 * len(worker.gpu_indices)
        for unit in found.units
        if queues[unit.job] == queue
        for worker in unit.workers
    )


@given(scenarios())
def test_no_gang_is_partly_placed(file: dict[str, Any]) -> None:
    scenario = read(file)
    shapes = dict(zip(scenario.snapshot.waiting.key.tolist(), scenario.snapshot.waiting.shape, strict=True))
    for unit in decide(scenario).units:
        roles = Counter(worker.role for worker in unit.workers)
        assert all(roles[role.name] >= role.min_workers for role in shapes[unit.job].roles)
        indices = sorted((worker.role, worker.index) for worker in unit.workers)
        assert len(set(indices)) == len(indices)


@given(scenarios())
def test_more_capacity_never_makes_equal_jobs_wait(file: dict[str, Any]) -> None:
    first = file["jobs"][0] | {"queue": "q"}
    file["jobs"] = [first | {"name": f"j{i}", "submitted": i} for i in range(4)]
    fewer = len(decide(read(file)).units)
    shape = file["cluster"]["nodes"][0]["shape"]
    extra = {"name": "extra", "shape": shape, "block": "b0", "rack": "r0"}
    if shape == "gb200-tray":
        extra["nvlink_domain"] = "d0"
    file["cluster"]["nodes"].append(extra)
    assert len(decide(read(file)).units) >= fewer


@given(scenarios())
def test_a_ring_crosses_each_border_as_often_as_the_gang_has_domains(file: dict[str, Any]) -> None:
    """Ranks run along the tree: going round, each level's border is crossed once per domain (none within one)."""
    scenario = read(file)
    layout = scenario.snapshot.layout
    rows = {key: row for row, key in enumerate(scenario.snapshot.nodes.key.tolist())}
    roles = dict(zip(scenario.snapshot.waiting.key.tolist(), scenario.snapshot.waiting.shape, strict=True))
    for unit in decide(scenario).units:
        if len(roles[unit.job].roles) > 1:  # each role is numbered along the tree by itself
            continue
        ranked = sorted((worker.rank, rows[worker.node]) for worker in unit.workers if worker.rank >= 0)
        for name in ("block", "host"):
            groups = layout.group_of[layout.levels.index(name)]
            ring = [int(groups[row]) for _, row in ranked]
            crossings = sum(a != b for a, b in zip(ring, ring[1:] + ring[:1], strict=True))
            assert crossings == (len(set(ring)) if len(set(ring)) > 1 else 0)
