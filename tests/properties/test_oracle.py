"""plan() against the oracle, and the invariants of a plan, over random worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings

from scheduler.cycle import plan
from scheduler.model.plan import Plan
from scheduler.oracle.check import faults
from scheduler.scenario.reader import Scenario, read_scenario

from .worlds import scenarios, text_of

EXAMPLES = settings(max_examples=settings().max_examples)


def decide(scenario: Scenario) -> Plan:
    return plan(scenario.snapshot, scenario.policy, scenario.now, np.random.default_rng(0))


@given(scenarios(most_nodes=6, most_jobs=5))
def test_the_plan_is_what_the_slow_rules_say(file: dict[str, Any]) -> None:
    scenario = read_scenario(text_of(file))
    assert faults(scenario.snapshot, scenario.policy, decide(scenario)) == []
