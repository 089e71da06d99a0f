"""A plan in the words of the scenario format: one JSON-ready object."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler.messages import message, placed_message
from scheduler.model.applied import applied
from scheduler.model.hardware import GpuModel, gpus_of
from scheduler.model.jobs import DeviceKind, Role
from scheduler.model.plan import Plan, Unit
from scheduler.model.resources import GPU, MILLI_PER_GPU, display
from scheduler.model.snapshot import Snapshot
from scheduler.model.verdict import Verdict
from scheduler.reserve.quota import QuotaBook
from scheduler.scenario.reader import Scenario


def report(scenario: Scenario, plan: Plan, elapsed: float) -> dict[str, Any]:
    """What `muster plan --json` prints. `elapsed` in seconds."""
    after = applied(scenario.snapshot, plan, scenario.now)
    return {
        "scenario": scenario.name,
        "jobs": _jobs(scenario, plan, after),
        "queues": _queues(after),
        "fragmentation": _fragmentation(after),
        "elapsed_ms": round(elapsed * 1_000, 3),
    }


def _jobs(scenario: Scenario, plan: Plan, after: Snapshot) -> dict[str, Any]:
    nodes = dict(zip(after.nodes.key.tolist(), after.nodes.name, strict=True))
    queues = {queue.key: queue.name for queue in scenario.snapshot.queues}
    jobs = {key: job.name for key, job in enumerate(scenario.jobs, start=1)}
    units = {unit.job: unit for unit in plan.units if not unit.is_growth}
    waiting = scenario.snapshot.waiting.key.tolist()
    verdicts = {key: plan.verdicts[n] for key, n in zip(waiting, plan.verdict_of.tolist(), strict=True) if n >= 0}
    placements = _placements(scenario, after, nodes)
    told: dict[str, Any] = {}
    for key, name in jobs.items():
        verdict, unit = verdicts.get(key), units.get(key)
        told[name] = _told(verdict, unit, nodes, message(verdict, queues=queues, jobs=jobs) if verdict else "")
        told[name]["placement"] = placements.get(key, [])
    return told


def _told(verdict: Verdict | None, unit: Unit | None, nodes: dict[int, str], sentence: str) -> dict[str, Any]:
    if unit is not None:
        bottleneck = unit.bottleneck
        told: dict[str, Any] = {"decision": "placed", "reason": None, "message": placed_message(unit, nodes)}
        if bottleneck is not None:
            told["bottleneck"] = {
                "level": bottleneck.level, "gigabytes": bottleneck.gigabytes, "source": bottleneck.source,
            }  # fmt: skip
        return told
    if verdict is not None:
        funnel = [{"role": step.role, "cause": str(step.cause), "left": step.left} for step in verdict.funnel]
        return {"decision": "waiting", "reason": str(verdict.reason), "message": sentence, "funnel": funnel}
    return {"decision": "kept", "reason": None, "message": "Runs on where it is."}


def _placements(scenario: Scenario, after: Snapshot, nodes: dict[int, str]) -> dict[int, list[dict[str, Any]]]:
    """Workers that run after the decision, by job key."""
    found: dict[int, list[dict[str, Any]]] = {}
    w = after.workers
    columns = (w.job, w.role, w.index, w.node, w.gpus, w.mig_start, w.nic)
    layout = after.layout
    for job, position, index, node, gpus, start, nic in zip(*(column.tolist() for column in columns), strict=True):
        role = scenario.jobs[job - 1].shape.roles[position]
        told: dict[str, Any] = {"worker": f"{role.name}-{index}", "node": nodes[node], "gpus": list(gpus_of(gpus))}
        row = int(np.searchsorted(after.nodes.key, node))
        if gpus:
            told |= _part(role, layout.models[layout.model_of[row]], start)
        if role.devices.kind == DeviceKind.SLICE:
            told["fraction"] = 1 / int(after.nodes.replicas[row])
        if nic >= 0:
            told["nic"] = nic
        found.setdefault(job, []).append(told)
    return found


def _part(role: Role, model: GpuModel, start: int) -> dict[str, Any]:
    """What is said beside a GPU that is not had whole."""
    devices = role.devices
    if devices.kind == DeviceKind.SHARE:
        return {"fraction": devices.milli_on(model) / MILLI_PER_GPU}
    if devices.kind == DeviceKind.MIG:
        return {"mig": devices.profile, "start": start}
    return {}


def _queues(after: Snapshot) -> dict[str, Any]:
    book = QuotaBook(after)
    told = {}
    for queue in after.queues:
        limit = queue.limit.get(GPU)
        told[queue.name] = {
            "allocated": display(GPU, book.used[queue.key].get(GPU, 0)),
            "guaranteed": display(GPU, book.tree.guaranteed[queue.key].get(GPU, 0)),
            "limit": None if limit is None else display(GPU, limit),
        }
    return told


def _fragmentation(after: Snapshot) -> dict[str, int]:
    layout, free = after.layout, after.occupancy.free
    usable = layout.usable & (layout.gpu_count > 0)
    return {
        "free_gpus": int(np.bitwise_count(free[usable]).sum()),
        "free_whole_nodes": int((usable & (free == layout.all_gpus)).sum()),
    }
