"""What is promised to a gang holds in random worlds, whatever it asks for at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from scheduler.cycle import plan
from scheduler.model.applied import applied
from scheduler.model.catalogue import SHAPES
from scheduler.scenario.reader import read_scenario
from scheduler.scenario.report import report
from tests.core.random_gangs import random_world

Placement = list[dict[str, Any]]


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_promises_hold(first: int) -> None:
    broken = {seed: found for seed in range(first, first + 20) if (found := list(_broken(random_world(seed))))}
    assert broken == {}


def _broken(world: dict[str, Any]) -> Iterator[str]:
    scenario = read_scenario(yaml.safe_dump(world, sort_keys=False))
    decided = plan(scenario.snapshot, scenario.policy, scenario.now)
    placements = {name: job["placement"] for name, job in report(scenario, decided, elapsed=0)["jobs"].items()}
    nodes = {node["name"]: node for node in world["cluster"]["nodes"]}
    for job in world["jobs"]:
        if placements[job["name"]]:
            yield from _broken_gang(job, placements[job["name"]], nodes)
            yield from _shared_though_exclusive(job, placements)
    yield from _overdrawn(placements, nodes)
    after = applied(scenario.snapshot, decided, scenario.now)
    if not plan(after, scenario.policy, scenario.now).is_settled:
        yield "planning again changes something"


def _broken_gang(job: dict[str, Any], placement: Placement, nodes: dict[str, Any]) -> Iterator[str]:
    roles = {role["name"]: role for role in job.get("roles", [job | {"name": "worker"}])}
    used = {name: [w["node"] for w in placement if w["worker"].rsplit("-", 1)[0] == name] for name in roles}
    for name, role in roles.items():
        if len(used[name]) < role.get("min_workers", role.get("workers", 1)):
            yield f"{job['name']}: too few workers of {name}"
        if set(used[name]) & set(used.get(role.get("apart", ""), [])):
            yield f"{job['name']}: {name} is not apart"
    if job.get("spread") and len({w["node"] for w in placement}) < len(placement):
        yield f"{job['name']}: not spread"
    level = job.get("topology", {}).get("required")
    if level and len({_domain(nodes, w["node"], level) for w in placement}) > 1:
        yield f"{job['name']}: not in one {level}"
    if "roles" not in job:
        yield from _torn_slices(job, placement, nodes)


def _torn_slices(job: dict[str, Any], placement: Placement, nodes: dict[str, Any]) -> Iterator[str]:
    wanted = job.get("topology", {}).get("slice")
    if wanted:
        ring = sorted(placement, key=lambda worker: int(worker["worker"].rsplit("-", 1)[1]))
        for first in range(0, len(ring), wanted["workers"]):
            run = ring[first : first + wanted["workers"]]
            if len({_domain(nodes, worker["node"], wanted["required"]) for worker in run}) > 1:
                yield f"{job['name']}: a slice is torn"


def _domain(nodes: dict[str, Any], node: str, level: str) -> str:
    """A domain's path: the same rack name in two blocks is two racks."""
    if level in {"host", "nvlink_domain"}:
        return node if level == "host" else str(nodes[node].get(level))
    return "/".join(str(nodes[node].get(one)) for one in ("block", "rack")[: 2 if level == "rack" else 1])


def _shared_though_exclusive(job: dict[str, Any], placements: dict[str, Placement]) -> Iterator[str]:
    mine = {worker["node"] for worker in placements[job["name"]]}
    for name, placement in placements.items() if job.get("exclusive") else ():
        if name != job["name"] and mine & {worker["node"] for worker in placement}:
            yield f"{job['name']}: shares a node with {name}"


def _overdrawn(placements: dict[str, Placement], nodes: dict[str, Any]) -> Iterator[str]:
    used: dict[tuple[str, int], float] = defaultdict(float)
    kinds: dict[tuple[str, int], set[str]] = defaultdict(set)
    for worker in (worker for placement in placements.values() for worker in placement):
        for gpu in worker["gpus"]:
            kind = "mig" if "mig" in worker else "part" if "fraction" in worker else "whole"
            kinds[worker["node"], gpu].add(kind)
            used[worker["node"], gpu] += 0 if kind == "mig" else worker.get("fraction", 1)
    for (name, gpu), amount in used.items():
        node = nodes[name]
        barred = {*node.get("others", {}).get("gpus", []), *node.get("unhealthy_gpus", [])}
        if amount > 1 + 1e-9 or len(kinds[name, gpu]) > 1 or gpu in barred or gpu >= SHAPES[node["shape"]].gpu_count:
            yield f"GPU {gpu} of {name} is given {amount:g} times as {sorted(kinds[name, gpu])}"
