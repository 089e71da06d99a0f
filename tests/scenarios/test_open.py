"""The scenarios that specify the scheduler, decided in this process and held against what they expect.

They lie beside the project; where they are absent these tests are skipped, and say so.
"""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from scheduler.cycle import plan
from scheduler.scenario.reader import read_scenario
from scheduler.scenario.report import report

SCENARIOS = Path(__file__).resolve().parents[3] / "shared" / "scenarios"

PASSING = [
    "borrow-when-idle",
    "compact-by-default",
    "cpu-jobs-leave-gpu-nodes",
    "dependencies-and-holds",
    "dgx1-quad",
    "elastic-starts-small-and-grows",
    "exclusive-takes-whole-nodes",
    "fraction-shares-one-gpu",
    "fragmented-says-so",
    "gang-all-or-nothing",
    "gang-larger-than-the-cluster",
    "gang-roles-are-one",
    "gang-two-never-interleave",
    "impossible-says-so",
    "limit-is-a-limit",
    "locality-required-switch",
    "mig-packs",
    "model-preference",
    "nic-required",
    "non-preemptible-stays-in-guarantee",
    "numa-aligned-without-nvlink",
    "nvlink-beats-packing",
    "nvlink-domain-across-hosts",
    "nvlink-pair-preferred",
    "nvlink-required-waits",
    "nvlink-single-takes-broken-pair",
    "one-hundred-singles",
    "pack-best-fit-node",
    "pack-keeps-whole-nodes",
    "pcie-fallback",
    "plain-job-spares-the-best",
    "preempt-min-runtime",
    "preempt-useless-is-not-done",
    "rack-best-fit",
    "rack-preferred-falls-back",
    "rack-required",
    "rack-required-unsatisfied",
    "reclaim-never-below-share",
    "slice-keeps-runs-of-ranks-together",
    "strict-order",
    "taints-selectors-health",
    "three-fours-on-eights",
]

NOT_YET = [
    "backfill-does-not-delay-the-head",
    "batch-comes-last",
    "batch-gives-way",
    "consolidate-opens-a-node",
    "elastic-shrinks-before-anyone-dies",
    "inference-replicas-stand-alone",
    "least-served-queue-first",
    "past-usage-tips-the-share",
    "placeholder-holds-room-for-its-queue",
    "preempt-least-lost-in-all",
    "preempt-least-lost-work",
    "preempt-no-needless-victim",
    "preempt-whole-gangs-only",
    "preempt-within-queue",
    "reclaim-gives-back",
    "reservation-keeps-gpus-free",
    "share-by-weight",
]


@pytest.fixture(scope="module")
def check() -> ModuleType:
    """The checker that lies with the scenarios."""
    path = SCENARIOS / "check.py"
    if not path.exists():
        pytest.skip(f"no scenarios at {path.parent}: the specification was NOT checked")
    spec = importlib.util.spec_from_file_location("scenario_check", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def decided(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """A scenario as YAML gives it, and what `muster plan --json` would print for it."""
    text = path.read_text()
    scenario = read_scenario(text, path.name)
    told = report(scenario, plan(scenario.snapshot, scenario.policy, scenario.now), elapsed=0)
    wanted = yaml.safe_load(text)
    if True in wanted["expect"]:  # YAML 1.1 reads the key `on` as true, and the checker would look past it
        wanted["expect"]["on"] = wanted["expect"].pop(True)
    return wanted, json.loads(json.dumps(told))


@pytest.mark.parametrize("name", PASSING)
def test_decides_as_specified(check: ModuleType, name: str) -> None:
    scenario, told = decided(SCENARIOS / "open" / f"{name}.yaml")
    assert list(check.differences(scenario, told)) == []


def test_no_scenario_is_forgotten(check: ModuleType) -> None:
    there = {path.stem for path in (SCENARIOS / "open").glob("*.yaml")}
    assert there == {*PASSING, *NOT_YET}
