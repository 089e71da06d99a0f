"""The openb protocol through plan() itself: all tasks wait in one queue, in the order of arrival, and are decided in one call.

What does not fit gets a verdict and is not tried again, which is the protocol's "dropped". The profile has the resource filters
and one score.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from muster.cycle.mix import counted, typical_mix, usable_share
from scheduler.cycle import plan
from scheduler.model.columns import IntArray, objects
from scheduler.model.hardware import GpuModel, NodeShape
from scheduler.model.jobs import (
    NO_NODES,
    DeviceKind,
    Devices,
    GpuNeeds,
    JobShape,
    Role,
    WaitingJobs,
    Want,
)
from scheduler.model.nodes import Nodes
from scheduler.model.policy import PlacementPolicy, PluginUse, Point, Policy
from scheduler.model.queues import Queue
from scheduler.model.snapshot import Snapshot
from scheduler.registry import default_profile
from scheduler.scenario.reader import read_scenario
from scheduler.score.frag.mix import TaskShape
from tests.perf.openb_run import Outcome
from tests.perf.openb_trace import Trace, asked

QUEUE = 1
ANY_MODEL = GpuModel("any", 16 << 30, 80)


def run(trace: Trace, placement: PlacementPolicy, seed: int, *, until: float = 1.3) -> Outcome:
    """One seed of one placement policy."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(trace.machines))
    arrivals = list(trace.arrivals(rng, until))
    nobody = read_scenario("name: nobody runs\ncluster: {nodes: [{name: a}]}\nqueues: {all: {}}\n").snapshot
    snapshot = Snapshot(
        levels=(),
        nodes=_nodes(trace, order),
        queues=(Queue(key=QUEUE, name="all"),),
        waiting=_waiting(arrivals),
        running=nobody.running,
        workers=nobody.workers,
    )
    policy = _policy(trace, placement)
    started = time.process_time()
    decided = plan(snapshot, policy, 0.0)
    outcome = Outcome(microseconds=(time.process_time() - started) / len(arrivals) * 1e6)
    _count(outcome, arrivals, {unit.job for unit in decided.units}, trace.machines.total_milli)
    return outcome


def _count(outcome: Outcome, arrivals: Sequence[TaskShape], started: set[int], total: int) -> None:
    """Allocation after each whole percent arrived. The key of a job is its place in the order of arrival."""
    arrived = used = 0
    for key, task in enumerate(arrivals, start=1):
        arrived += asked(task)
        if key in started:
            used += asked(task)
        elif task.gpus:
            outcome.note_refusal(task, 100 * arrived / total)
        outcome.allocated.setdefault(arrived * 100 // total, 100 * used / total)


def _policy(trace: Trace, placement: PlacementPolicy) -> Policy:
    mix = typical_mix(counted([replace(task, memory=0) for task in trace.tasks]))
    is_fragmentation = placement == PlacementPolicy.FRAGMENTATION
    arguments = {"phi": tuple(usable_share(mix).tolist())} if is_fragmentation else {}
    usual = default_profile(placement)
    score = (PluginUse(str(placement), args=arguments),)
    profile = replace(usual, plugins={**usual.plugins, Point.SCORE: score})
    return Policy(placement=placement, profile=profile, mix=mix)


def _nodes(trace: Trace, order: IntArray) -> Nodes:
    """Registered in the order of the seed's renaming, for ties go to the node registered first.

    Where no task names a model, all GPUs are of one: the trace hides what its models can do, and between models told apart the
    less capable would win ties.
    """
    machines, count = trace.machines, len(order)
    is_named = any(task.models for task in trace.tasks)
    models = [GpuModel(name, 16 << 30, 80) if is_named else ANY_MODEL for name in machines.models]
    shapes: dict[tuple[int, int], NodeShape] = {}
    for model, gpus in {(int(m), int(g)) for m, g in zip(machines.model, machines.gpus, strict=True)}:
        links = ((0,) * gpus,) * gpus
        shapes[model, gpus] = NodeShape(f"x{gpus}", models[model], links, (0,) * gpus, tuple(range(gpus)))
    no, zero = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.int64)
    return Nodes(
        key=np.arange(1, count + 1),
        name=objects(f"n{row}" for row in order),
        shape=objects(shapes[int(machines.model[row]), int(machines.gpus[row])] for row in order),
        cpu=machines.cpu[order],
        memory=machines.memory[order],
        domains=np.zeros((count, 0), dtype=np.int64),
        nvlink_domain=zero - 1,
        labels=objects([()] * count),
        taints=objects([()] * count),
        ready=~no,
        cordoned=no,
        unhealthy=zero.astype(np.uint32),
        others_gpus=zero.astype(np.uint32),
        others_cpu=zero.copy(),
        others_memory=zero.copy(),
        replicas=zero + 1,
        exact=~no,
        images=objects([frozenset()] * count),
    )


def _waiting(arrivals: Sequence[TaskShape]) -> WaitingJobs:
    count = len(arrivals)
    shapes = {task: _shape(task) for task in set(arrivals)}
    no, zero = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.int64)
    return WaitingJobs(
        key=np.arange(1, count + 1),
        name=objects(f"t{at}" for at in range(count)),
        queue=np.full(count, QUEUE),
        shape=objects(shapes[task] for task in arrivals),
        priority=zero,
        submitted=np.arange(count, dtype=np.float64),
        not_before=np.zeros(count),
        held=no,
        unmet=no.copy(),
        incomplete=no.copy(),
        walltime=np.full(count, np.inf),
        avoid=objects([NO_NODES] * count),
    )


def _shape(task: TaskShape) -> JobShape:
    if task.is_share:
        devices = Devices(DeviceKind.SHARE, milli=task.milli)
    else:
        devices = Devices(DeviceKind.WHOLE, count=task.gpus) if task.gpus else Devices()
    needs = GpuNeeds(models=task.models, nvlink=Want.ANY)
    return JobShape(roles=(Role(cpu=task.cpu, memory=task.memory, devices=devices, gpu=needs),))
