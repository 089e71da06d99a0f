"""Text of a scenario file to the world it describes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scheduler.model.columns import objects
from scheduler.model.hardware import NodeShape
from scheduler.model.instances import instance_of
from scheduler.model.jobs import NO_NODES, DeviceKind, JobShape, RunningJobs, RunState, WaitingJobs, Workers
from scheduler.model.policy import PlacementPolicy, Policy
from scheduler.model.queues import NO_PARENT, Queue
from scheduler.model.resources import MILLI_PER_GPU
from scheduler.model.snapshot import Snapshot
from scheduler.scenario import convert
from scheduler.scenario.cluster import Cluster, read_cluster
from scheduler.scenario.document import Lines, Section, parse
from scheduler.scenario.jobs import Job, RunningWorker, read_job
from scheduler.score.frag.mix import TaskShape

_TOP_KEYS = ("name", "why", "now", "cluster", "queues", "jobs", "policy", "expect", "format")
_TOP_UNBUILT: dict[str, Any] = {"reservations": [], "shapes": {}}
_QUEUE_KEYS = ("parent", "guaranteed", "limit", "priority", "borrow")
_QUEUE_UNBUILT = {"weight": 1, "lend": None, "usage": 0, "preempt_within": True, "reclaim": True}
_POLICY_KEYS = ("placement", "backfill", "mix", "preemption")
_POLICY_UNBUILT = {
    "reserve_head_after": 0, "consolidate": False, "usage_weight": 0, "defragment": False,
    "max_moves": None, "max_lost_gpu_seconds": None, "profile": None, "weights": None, "seed": None,
}  # fmt: skip


@dataclass(frozen=True)
class Scenario:
    """A world, and the names under which its file knows things. Job keys are 1, 2, 3 … in file order."""

    name: str
    snapshot: Snapshot
    policy: Policy
    now: float
    jobs: tuple[Job, ...]
    expect: dict[str, Any]


def read_scenario(text: str, file: str = "scenario") -> Scenario:
    """Read and check a whole file; raises ScenarioError naming file, line and key."""
    top = Section(file, "the scenario", parse(text, file))
    top.check(_TOP_KEYS, _TOP_UNBUILT)
    cluster_section = top.section("cluster")
    if cluster_section is None:
        raise top.error("cluster", "the scenario has no `cluster`, which is required")
    cluster = read_cluster(cluster_section)
    queues = _read_queues(top)
    jobs = _read_jobs(top, {queue.name: queue for queue in queues})
    policy_section = top.section("policy")
    return Scenario(
        name=top.need("name", convert.text),
        snapshot=_snapshot(cluster, queues, jobs),
        policy=_policy(policy_section) if policy_section else Policy(),
        now=top.get("now", convert.number, 0.0),
        jobs=tuple(jobs),
        expect=top.values.get("expect") or {},
    )


def _read_queues(top: Section) -> list[Queue]:
    section = top.section("queues")
    if section is None:
        raise top.error("queues", "the scenario has no `queues`, which is required")
    keys = {name: key for key, name in enumerate(section.values, start=1)}
    return [_read_queue(section, name, keys) for name in section.values]


def _read_queue(queues: Section, name: str, keys: dict[str, int]) -> Queue:
    value = queues.values[name]
    line = queues.values.lines[name]
    section = Section(queues.file, f"queue {name}", Lines(line) if value is None else value, line)
    section.check(_QUEUE_KEYS, _QUEUE_UNBUILT)
    parent = section.get("parent", convert.text, "")
    if parent and parent not in keys:
        raise section.error("parent", f"queue {name}: there is no queue `{parent}`")
    return Queue(
        key=keys[name],
        name=name,
        parent=keys[parent] if parent else NO_PARENT,
        guaranteed=section.get("guaranteed", convert.amounts, {}),
        limit=section.get("limit", convert.amounts, {}),
        priority=section.get("priority", convert.integer, 0),
        borrow=section.get("borrow", convert.gpu_parts, None),
    )


def _policy(section: Section) -> Policy:
    section.check(_POLICY_KEYS, _POLICY_UNBUILT)
    return Policy(
        placement=section.get("placement", PlacementPolicy, PlacementPolicy.PACK),
        backfill=section.get("backfill", convert.flag, True),
        preemption=section.get("preemption", convert.flag, True),
        mix=tuple(_task(section, value) for value in section.get("mix", list, [])),
    )


def _task(policy: Section, value: Any) -> tuple[TaskShape, float]:
    """One shape of the workload mix with its share."""
    section = Section(policy.file, "an entry of `mix`", value, policy.values.lines["mix"])
    section.check(("gpus", "gpu_fraction", "cpus", "memory", "share"))
    milli = section.get("gpu_fraction", convert.milli_gpu, MILLI_PER_GPU)
    task = TaskShape(
        gpus=section.get("gpus", convert.count, 1 if "gpu_fraction" in section.values else 0),
        milli=milli,
        cpu=section.get("cpus", convert.millicores, 0),
        memory=section.get("memory", convert.size, 0),
    )
    return task, section.need("share", convert.number)


def _read_jobs(top: Section, queues: dict[str, Queue]) -> list[Job]:
    values = top.values.get("jobs") or []
    line = top.values.lines.get("jobs", 1)
    jobs = [read_job(top.file, value, line) for value in values]
    parents = {queue.parent for queue in queues.values()}
    seen: set[str] = set()
    for job in jobs:
        if job.name in seen:
            raise job.section.error("name", f"two jobs are named {job.name}")
        seen.add(job.name)
        if job.queue not in queues:
            raise job.section.error("queue", f"job {job.name}: there is no queue `{job.queue}`")
        if queues[job.queue].key in parents:
            raise job.section.error("queue", f"job {job.name}: queue {job.queue} has queues below it and takes no jobs")
    return jobs


def _snapshot(cluster: Cluster, queues: Sequence[Queue], jobs: Sequence[Job]) -> Snapshot:
    keys = {job.name: key for key, job in enumerate(jobs, start=1)}
    queue_keys = {queue.name: queue.key for queue in queues}
    shapes: dict[JobShape, JobShape] = {}
    shared = {job.name: shapes.setdefault(job.shape, job.shape) for job in jobs}
    running = [replace(job, running=alive) for job in jobs if (alive := _alive(job, cluster))]
    names = {job.name for job in running}
    waiting = [job for job in jobs if job.name not in names]
    common = _Common(keys, queue_keys, shared)
    return Snapshot(
        levels=cluster.levels,
        nodes=cluster.nodes,
        queues=tuple(queues),
        waiting=_waiting(waiting, common, cluster),
        running=_running(running, common),
        workers=_workers(running, common, cluster),
    )


@dataclass(frozen=True)
class _Common:
    keys: dict[str, int]
    queues: dict[str, int]
    shapes: dict[str, JobShape]

    def columns(self, jobs: Sequence[Job]) -> dict[str, Any]:
        """Columns that both job tables have."""
        return {
            "key": np.array([self.keys[job.name] for job in jobs], dtype=np.int64),
            "name": objects(job.name for job in jobs),
            "queue": np.array([self.queues[job.queue] for job in jobs], dtype=np.int64),
            "shape": objects(self.shapes[job.name] for job in jobs),
            "priority": np.array([job.priority for job in jobs], dtype=np.int64),
            "submitted": np.array([job.submitted for job in jobs], dtype=np.float64),
            "walltime": np.array([job.walltime for job in jobs], dtype=np.float64),
        }


def _alive(job: Job, cluster: Cluster) -> tuple[RunningWorker, ...]:
    """The workers still there. A node that is not ready, or an unhealthy GPU, has ended those on it, and with them the
    attempt, unless the job is elastic and stays at or above its minimum."""
    alive = tuple(worker for worker in job.running if not _has_ended(job, worker, cluster))
    enough = all(sum(w.role == role.name for w in alive) >= role.min_workers for role in job.shape.roles)
    return alive if len(alive) == len(job.running) or enough else ()


def _has_ended(job: Job, worker: RunningWorker, cluster: Cluster) -> bool:
    if worker.node not in cluster.names:
        raise job.section.error("running", f"job {job.name} runs on {worker.node}, which does not exist")
    row = cluster.names[worker.node] - 1
    return not cluster.nodes.ready[row] or bool(int(cluster.nodes.unhealthy[row]) & worker.gpus)


def _waiting(jobs: Sequence[Job], common: _Common, cluster: Cluster) -> WaitingJobs:
    return WaitingJobs(
        **common.columns(jobs),
        not_before=np.array([job.not_before for job in jobs], dtype=np.float64),
        held=np.array([job.held for job in jobs], dtype=np.bool_),
        unmet=np.array([bool(common.keys.keys() & job.after) for job in jobs], dtype=np.bool_),
        incomplete=np.zeros(len(jobs), dtype=np.bool_),
        avoid=objects(_avoid(job, cluster) for job in jobs),
    )


def _avoid(job: Job, cluster: Cluster) -> frozenset[int]:
    return frozenset(cluster.names[name] for name in job.avoid if name in cluster.names) if job.avoid else NO_NODES


def _running(jobs: Sequence[Job], common: _Common) -> RunningJobs:
    def floats(name: str) -> Any:
        return np.array([getattr(job, name) for job in jobs], dtype=np.float64)

    return RunningJobs(
        **common.columns(jobs),
        started=floats("started"),
        min_runtime=floats("min_runtime"),
        saved=floats("saved"),
        protected_until=np.zeros(len(jobs)),
        state=np.full(len(jobs), RunState.RUNNING, dtype=np.int64),
    )


def _check_devices(job: Job, worker: RunningWorker, role: int, cluster: Cluster) -> None:
    """The node has these GPUs, and can be cut into the instance at this start."""
    devices = job.shape.roles[role].devices
    shape: NodeShape = cluster.nodes.shape[cluster.names[worker.node] - 1]
    if worker.gpus & ~shape.all_gpus:
        raise job.section.error("running", f"job {job.name}: {worker.node} has {shape.gpu_count} GPUs")
    if devices.kind != DeviceKind.MIG:
        return
    instance = instance_of(shape.model.name, devices.profile) if shape.model else None
    if instance is None:
        raise job.section.error("running", f"job {job.name}: {worker.node} has no MIG profile {devices.profile}")
    if worker.mig_start not in instance.starts:
        starts = ", ".join(map(str, instance.starts))
        raise job.section.error("running", f"job {job.name}: `start` of a running {devices.profile} is one of {starts}")


def _workers(jobs: Sequence[Job], common: _Common, cluster: Cluster) -> Workers:
    rows = []
    for job in jobs:
        roles = {role.name: position for position, role in enumerate(job.shape.roles)}
        for worker in job.running:
            if worker.role not in roles:
                raise job.section.error("running", f"job {job.name} has no role `{worker.role}`")
            _check_devices(job, worker, roles[worker.role], cluster)
            key = (common.keys[job.name], roles[worker.role], worker.index, cluster.names[worker.node])
            rows.append((*key, worker.gpus, worker.mig_start))
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 6)
    return Workers(
        key=np.arange(1, len(rows) + 1, dtype=np.int64),
        job=table[:, 0],
        role=table[:, 1],
        index=table[:, 2],
        node=table[:, 3],
        gpus=table[:, 4].astype(np.uint32),
        mig_start=table[:, 5],
        nic=np.full(len(rows), -1, dtype=np.int64),
    )
