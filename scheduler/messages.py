"""Verdicts as sentences. Decisions never look here; the platform may render them its own way from the same fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scheduler.model.bandwidth import IS_MEASURED
from scheduler.model.hardware import LINK_ACROSS, LINK_NUMA, LINK_NVLINK, LINK_SWITCH
from scheduler.model.nodes import HOST
from scheduler.model.plan import Bottleneck, Shortfall, Unit
from scheduler.model.resources import CPU, GPU, MEMORY, PARTS_PER_GPU, display
from scheduler.model.verdict import Cause, FunnelStep, Help, Quota, Reason, Verdict

Names = Mapping[int, str]
"""Names by key: of queues, or of jobs."""


@dataclass(frozen=True)
class Told:
    """A verdict with the names it speaks of."""

    verdict: Verdict
    queues: Names
    jobs: Names


Sentence = Callable[[Told], str]

_AFTER = {
    Cause.HEALTH: "are ready and not cordoned",
    Cause.TAINT: "have no taint that the job does not tolerate",
    Cause.SELECTOR: "carry the labels asked for",
    Cause.MODEL: "have a GPU model that serves",
    Cause.LEVEL: "stand in a domain of the level asked for",
    Cause.EXCLUSIVE: "can be taken whole",
    Cause.GPUS: "have the GPUs free",
    Cause.CPU: "have the CPUs free",
    Cause.MEMORY: "have the memory free",
    Cause.LINKS: "have GPUs joined as required",
}


_BORDERS = {
    LINK_NVLINK: "NVLink within a node",
    LINK_SWITCH: "a PCIe switch within a node",
    LINK_NUMA: "within a NUMA node",
    LINK_ACROSS: "between the NUMA nodes of a node",
    HOST: "between nodes",
}
_SOURCES = {IS_MEASURED: "as measured on machines like these"}


def message(verdict: Verdict, *, queues: Names, jobs: Names) -> str:
    """One or two sentences for the people who wait."""
    sentence = _SENTENCES[verdict.reason](Told(verdict, queues, jobs))
    helps = "; ".join(filter(None, (_help(one) for one in verdict.help)))
    return f"{sentence} It would help {helps}." if helps else sentence


def funnel_lines(steps: tuple[FunnelStep, ...]) -> list[str]:
    """One line per filter that was asked."""
    return [f"{step.role}: {step.left} nodes {_AFTER[step.cause]}" for step in steps]


def placed_message(unit: Unit, names: Names) -> str:
    """Where a gang starts."""
    nodes = list(dict.fromkeys(names[worker.node] for worker in unit.workers))
    shown = ", ".join(nodes[:4]) + (f" and {len(nodes) - 4} more" if len(nodes) > 4 else "")
    workers = "1 worker" if len(unit.workers) == 1 else f"{len(unit.workers)} workers"
    sentence = f"Starts with {workers} on {shown}."
    return " ".join([sentence, *(shortfall_message(one) for one in unit.shortfalls)])


def shortfall_message(one: Shortfall) -> str:
    """Why a worker has less than it preferred."""
    if not one.role:
        return f"No single {one.wanted} had room for all {one.gpus} workers; they are in {one.nodes}."
    group = {"nvlink": "NVLink group", "switch": "PCIe switch", "numa": "NUMA node"}[one.wanted]
    nodes = "the 1 node" if one.nodes == 1 else f"any of {one.nodes} nodes"
    return f"No {group} with {one.gpus} GPUs free was left to {one.role} on {nodes}."


def bottleneck_message(one: Bottleneck) -> str:
    """The slowest border that a ring over the gang crosses; a nominal figure is never told as a measured one."""
    border = _BORDERS.get(one.level, f"between two {one.level}s")
    source = _SOURCES.get(one.source, "nominal, by data sheets")
    speed = f"{one.gigabytes:.0f}" if one.gigabytes >= 10 else f"{one.gigabytes:.1f}"
    return f"Its slowest link is {border}: {speed} GB/s as each GPU sees it, {source}."


def _amount(resource: str, amount: int) -> str:
    value = display(resource, amount)
    if resource == MEMORY:
        return f"{value / 2**30:g} GiB"
    return _counted(value, "CPU" if resource == CPU else "GPU")


def _counted(value: float, unit: str) -> str:
    """1 GPU, 0.5 GPUs, 2 GPUs."""
    return f"{value:g} {unit}" if value == 1 else f"{value:g} {unit}s"


def _of(resource: str) -> str:
    return f" of {resource.partition('/')[2]}" if resource.startswith(f"{GPU}/") else ""


def _quota(what: str) -> Sentence:
    def sentence(told: Told) -> str:
        quota = told.verdict.quota or Quota(0, GPU, 0, 0, 0)
        name = told.queues.get(quota.queue, str(quota.queue))
        return (
            f"Asks for {_amount(quota.resource, quota.asked)}{_of(quota.resource)}, and queue {name} has"
            f" {_amount(quota.resource, quota.used)} of its {what} of {_amount(quota.resource, quota.allowed)} in use."
        )

    return sentence


def _short(resource: str) -> Sentence:
    def sentence(told: Told) -> str:
        asked, free = _amount(resource, told.verdict.asked), _amount(resource, told.verdict.free)
        return f"Needs {asked}; {free} {'is' if free.startswith('1 ') else 'are'} free on nodes that serve."

    return sentence


def _no_nodes(told: Told) -> str:
    verdict = told.verdict
    if verdict.level:
        return f"No node of this cluster stands in a {verdict.level}."
    worker = "a worker" if verdict.role == "worker" else f"a worker of role {verdict.role}"
    return f"No node of this cluster could ever hold {worker}: its model, labels, taints or size rule all out."


def _fragmented(told: Told) -> str:
    verdict = told.verdict
    if verdict.asked < PARTS_PER_GPU:
        return "Enough of the GPUs is free in all, but in pieces smaller than a worker needs."
    needs, has = _amount(GPU, verdict.asked), _amount(GPU, verdict.free)
    return f"Enough GPUs are free in all, but a worker needs {needs} on one node, and none has more than {has}."


def _topology(told: Told) -> str:
    verdict, level = told.verdict, told.verdict.level
    if level and verdict.asked:
        most = f"no {level} has room for more than {verdict.free}"
        return f"Enough is free in all, but {verdict.asked} workers must be in one {level}, and {most}."
    if level:
        return f"Enough is free in all, but no single {level} has it."
    return "Enough is free in all, but not joined, or not on separate nodes, as the job requires."


def _plain(text: str) -> Sentence:
    return lambda _: text


_SENTENCES: dict[Reason, Sentence] = {
    Reason.HELD: _plain("Held until somebody releases it."),
    Reason.DEPENDENCY: _plain("Waits for a job that has not succeeded yet."),
    Reason.WAITING_FOR_MEMBERS: _plain("Pods of this gang are missing."),
    Reason.NO_MATCHING_NODES: _no_nodes,
    Reason.EXCEEDS_CLUSTER: lambda told: (
        f"Its {told.verdict.asked} workers would not fit together even on an empty cluster."
    ),
    Reason.BACKOFF: lambda told: f"Tried again at {told.verdict.until:g}, after an attempt that failed.",
    Reason.QUOTA_EXCEEDED: _quota("limit"),
    Reason.GUARANTEE_EXCEEDED: _quota("guarantee for jobs that cannot be preempted"),
    Reason.BORROW_LIMIT: _quota("guarantee and what it may borrow, "),
    Reason.BEHIND_HEAD: lambda told: (
        f"Job {told.jobs.get(told.verdict.blocked_by, told.verdict.blocked_by)} stands before it in a strict queue."
    ),
    Reason.INSUFFICIENT_GPUS: _short(GPU),
    Reason.INSUFFICIENT_CPU: _short(CPU),
    Reason.INSUFFICIENT_MEMORY: _short(MEMORY),
    Reason.FRAGMENTED: _fragmented,
    Reason.TOPOLOGY_UNSATISFIED: _topology,
    Reason.BEHIND_RESERVATION: _plain("Would run into devices that are reserved for another job."),
    Reason.WAITING_FOR_PREEMPTION: _plain("Starts as soon as the jobs stopped for it have ended."),
}


def _help(one: Help) -> str:
    if one.kind == "gpus":
        more = _counted(one.amount / PARTS_PER_GPU, "more GPU")
        return f"if {more} {'was' if more.startswith('1 ') else 'were'} free"
    if one.kind in {CPU, MEMORY}:
        return f"if {_amount(one.kind, one.amount)} more were free"
    if one.kind == "nodes":
        if one.amount == 1:
            return "if the one node came back that would do but is down, cordoned or avoided"
        return f"if the {one.amount} nodes came back that would do but are down, cordoned or avoided"
    if one.kind == "quota":
        return f"to raise that by {_amount(one.of, one.amount)}"
    if one.kind == "relax":
        return f"to prefer {one.of} instead of requiring it" if one.of != "links" else "to ask for fewer joined GPUs"
    return "to move small jobs together" if one.kind == "consolidate" else ""
