"""Answering: plan() on the world as it is with the job in it, and on the world as if it were new."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from muster.placements.load import Loaded
from muster.placements.load.shapes import job_shape
from muster.preview.question import Answer, Question
from scheduler.cycle import plan
from scheduler.messages import bottleneck_message, funnel_lines, message, shortfall_message
from scheduler.model.columns import objects
from scheduler.model.jobs import NO_NODES, JobShape, WaitingJobs
from scheduler.model.nodes import Nodes
from scheduler.model.plan import Plan, Unit
from scheduler.model.queues import Queue
from scheduler.model.snapshot import Changes, Snapshot
from scheduler.model.verdict import Verdict


def would_run(loaded: Loaded, question: Question, now: float) -> Answer:
    """Whether the job could ever run, and if so, where it would start now or why it would wait."""
    shape = job_shape(question.body)
    never = why_never(loaded, shape)
    if never is not None:
        return _refusal(loaded.snapshot, never, can_run=False)
    probe = _probe(loaded.snapshot, question, shape, now)
    key = int(probe.key[0])
    world = loaded.snapshot.changed(Changes(waiting=probe))
    decided = plan(world, loaded.policy, now)
    unit = next((unit for unit in decided.units if unit.job == key), None)
    if unit is not None and not unit.nominated:
        return Answer(can_run=True, nodes=_by_node(world, unit), message=_placed(unit))
    return _refusal(world, _verdict(world, decided, key), can_run=True)


def why_never(loaded: Loaded, shape: JobShape) -> Verdict | None:
    """Why the cluster could not run the shape with nobody on it and everything whole; None if it could."""
    queue = Queue(key=1, name="")
    asked = Question(loaded.cluster_id, queue.key, priority=0, body={})
    new = Snapshot(
        levels=loaded.snapshot.levels,
        nodes=as_new(loaded.snapshot.nodes),
        queues=(queue,),
        waiting=_probe(loaded.snapshot, asked, shape, 0.0),
        running=loaded.snapshot.running.take(np.zeros(0, dtype=np.int64)),
        workers=loaded.snapshot.workers.take(np.zeros(0, dtype=np.int64)),
    )
    decided = plan(new, loaded.policy, 0.0)
    return None if decided.units else decided.verdicts[int(decided.verdict_of[0])]


def as_new(nodes: Nodes) -> Nodes:
    """The same nodes, all ready and healthy, with no pods of others: an outage makes no job impossible."""
    count = len(nodes)
    return replace(
        nodes,
        ready=np.ones(count, dtype=np.bool_),
        cordoned=np.zeros(count, dtype=np.bool_),
        unhealthy=np.zeros(count, dtype=np.uint32),
        others_gpus=np.zeros(count, dtype=np.uint32),
        others_cpu=np.zeros(count, dtype=np.int64),
        others_memory=np.zeros(count, dtype=np.int64),
    )


def _probe(snapshot: Snapshot, question: Question, shape: JobShape, now: float) -> WaitingJobs:
    """The job as the last row of the waiting table: submitted now, behind everybody else."""
    last = max((int(table.key[-1]) for table in (snapshot.waiting, snapshot.running) if len(table)), default=0)
    return WaitingJobs(
        key=np.array([last + 1], dtype=np.int64),
        name=objects([""]),
        queue=np.array([question.queue_id], dtype=np.int64),
        shape=objects([shape]),
        priority=np.array([question.priority], dtype=np.int64),
        submitted=np.array([now], dtype=np.float64),
        not_before=np.zeros(1, dtype=np.float64),
        held=np.array([question.is_held], dtype=np.bool_),
        unmet=np.zeros(1, dtype=np.bool_),
        incomplete=np.zeros(1, dtype=np.bool_),
        walltime=np.array([question.walltime or np.inf], dtype=np.float64),
        avoid=objects([NO_NODES]),
    )


def _verdict(world: Snapshot, decided: Plan, key: int) -> Verdict:
    row = int(np.searchsorted(world.waiting.key, key))
    return decided.verdicts[int(decided.verdict_of[row])]


def _by_node(world: Snapshot, unit: Unit) -> dict[str, list[str]]:
    """Names of the nodes in rank order, with the workers on each."""
    rows = dict(zip(world.nodes.key.tolist(), world.nodes.name, strict=True))
    found: dict[str, list[str]] = {}
    for worker in unit.workers:
        found.setdefault(rows[worker.node], []).append(worker.name)
    return found


def _placed(unit: Unit) -> str:
    """What is to be said of the placement: what fell short of what was preferred, and its slowest link."""
    slowest = [bottleneck_message(unit.bottleneck)] if unit.bottleneck else []
    return " ".join([*(shortfall_message(one) for one in unit.shortfalls), *slowest])


def _refusal(world: Snapshot, verdict: Verdict, *, can_run: bool) -> Answer:
    jobs = dict(zip(world.waiting.key.tolist(), world.waiting.name, strict=True)) if verdict.blocked_by else {}
    return Answer(
        can_run=can_run,
        reason=verdict.reason,
        message=message(verdict, queues={queue.key: queue.name for queue in world.queues}, jobs=jobs),
        funnel=funnel_lines(verdict.funnel),
    )
