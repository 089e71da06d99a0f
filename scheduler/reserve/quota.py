"""What queues have allocated, and whether a gang may be added: limit, guarantee and borrowing along the path to the root."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

import numpy as np

from scheduler.model.columns import IntArray, positions
from scheduler.model.hardware import GpuModel
from scheduler.model.instances import instance_of
from scheduler.model.jobs import DeviceKind, JobShape, Role
from scheduler.model.nodes import Layout, distinct
from scheduler.model.queues import NO_PARENT, Queue
from scheduler.model.resources import CPU, GPU, MEMORY, PARTS_PER_GPU, PARTS_PER_MILLI, gpu_resource, mig_parts
from scheduler.model.snapshot import Snapshot
from scheduler.model.verdict import Help, Quota, Reason, Verdict

Amounts = dict[str, int]
_MOST_CHOICES = 256
"""Combinations of models that are tried for a gang of several roles with GPUs."""


class QueueTree:
    """Paths and guarantees of the queues. An inner queue's guarantee is the larger of its own and its children's sum."""

    def __init__(self, queues: Sequence[Queue]) -> None:
        self.queues = {queue.key: queue for queue in queues}
        children: dict[int, list[int]] = {key: [] for key in self.queues}
        for queue in queues:
            if queue.parent != NO_PARENT:
                children[queue.parent].append(queue.key)
        self.children = children
        self.paths = {key: tuple(self._up(key)) for key in self.queues}
        self.guaranteed: dict[int, Amounts] = {}
        for key in sorted(self.queues, key=lambda key: -len(self.paths[key])):
            self.guaranteed[key] = self._guarantee(key)

    def _up(self, key: int) -> Iterator[int]:
        seen = set()
        while key != NO_PARENT and key not in seen:
            seen.add(key)
            yield key
            key = self.queues[key].parent

    def _guarantee(self, key: int) -> Amounts:
        below: Amounts = {}
        for child in self.children[key]:
            for resource, amount in self.guaranteed[child].items():
                below[resource] = below.get(resource, 0) + amount
        own = self.queues[key].guaranteed
        return {r: max(own.get(r, 0), below.get(r, 0)) for r in {**own, **below}}


class QuotaBook:
    """Allocated amounts per queue, with all its descendants: in all, and by jobs that cannot be preempted."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.tree, start = snapshot.derived("queue tree", _tree), snapshot.derived("allocated", _allocated)
        self.layout = snapshot.layout
        self.used: dict[int, Amounts] = {key: dict(amounts) for key, amounts in start[0].items()}
        self.fixed: dict[int, Amounts] = {key: dict(amounts) for key, amounts in start[1].items()}
        self.version = 0
        self._demands: dict[tuple[JobShape, tuple[GpuModel | None, ...]], Amounts] = {}

    def demand(self, shape: JobShape, models: tuple[GpuModel | None, ...]) -> Amounts:
        """What the whole gang takes if its roles get these models."""
        key = shape, models
        if key not in self._demands:
            self._demands[key] = _sum(
                worker_demand(self.layout, role, model, role.workers)
                for role, model in zip(shape.roles, models, strict=True)
            )
        return self._demands[key]

    def charge(self, queue: int, demand: Mapping[str, int], *, preemptible: bool, sign: int = 1) -> None:
        """Add (or with sign -1 take away) a gang's amounts along the path."""
        self.version += 1
        for book in (self.used,) if preemptible else (self.used, self.fixed):
            for key in self.tree.paths[queue]:
                amounts = book.setdefault(key, {})
                for resource, amount in demand.items():
                    amounts[resource] = amounts.get(resource, 0) + sign * amount

    def is_bounded(self, queue: int, shape: JobShape) -> bool:
        """Whether anything could ever be refused here."""
        path = self.tree.paths.get(queue, ())
        above = [self.tree.queues[key] for key in path]
        return not shape.preemptible or any(one.limit or one.borrow is not None for one in above)

    def refusal(self, queue: int, demand: Mapping[str, int], *, preemptible: bool) -> Verdict | None:
        """Why this much more may not run in the queue, None if it may."""
        checks = [self._over_limit, self._over_borrow] if preemptible else [self._over_limit, self._over_guarantee]
        if not preemptible:
            checks.append(self._over_borrow)
        for check in checks:
            verdict = check(queue, demand)
            if verdict is not None:
                return verdict
        return None

    def _over_limit(self, queue: int, demand: Mapping[str, int]) -> Verdict | None:
        for key in self.tree.paths[queue]:
            used = self.used.get(key, {})
            for resource, allowed in self.tree.queues[key].limit.items():
                asked = demand.get(resource, 0)
                if asked and used.get(resource, 0) + asked > allowed:
                    quota = Quota(key, resource, used.get(resource, 0), asked, allowed)
                    return Verdict(Reason.QUOTA_EXCEEDED, quota=quota, help=(_more(quota),))
        return None

    def _over_guarantee(self, queue: int, demand: Mapping[str, int]) -> Verdict | None:
        for key in self.tree.paths[queue]:
            guaranteed = self.tree.guaranteed[key]
            if key == queue:
                guaranteed = {GPU: 0, **guaranteed}
            used = self.fixed.get(key, {})
            for resource, allowed in guaranteed.items():
                asked = demand.get(resource, 0)
                if asked and used.get(resource, 0) + asked > allowed:
                    quota = Quota(key, resource, used.get(resource, 0), asked, allowed)
                    return Verdict(Reason.GUARANTEE_EXCEEDED, quota=quota, help=(_more(quota),))
        return None

    def _over_borrow(self, queue: int, demand: Mapping[str, int]) -> Verdict | None:
        asked = demand.get(GPU, 0)
        for key in self.tree.paths[queue] if asked else ():
            borrow = self.tree.queues[key].borrow
            used = self.used.get(key, {}).get(GPU, 0)
            if borrow is not None:
                allowed = self.tree.guaranteed[key].get(GPU, 0) + borrow
                if used + asked > allowed:
                    quota = Quota(key, GPU, used, asked, allowed)
                    return Verdict(Reason.BORROW_LIMIT, quota=quota, help=(_more(quota),))
        return None


def _more(quota: Quota) -> Help:
    return Help("quota", quota.used + quota.asked - quota.allowed, quota.resource)


def worker_demand(layout: Layout, role: Role, model: GpuModel | None, workers: int) -> Amounts:
    """Amounts by resource of so many workers of a role. GPUs count in all and by model."""
    demand = {CPU: role.cpu * workers, MEMORY: role.memory * workers}
    if model is not None:
        parts = gpu_parts(layout, role, model) * workers
        demand[GPU] = demand[gpu_resource(model.name)] = parts
    return {resource: amount for resource, amount in demand.items() if amount}


def gpu_parts(layout: Layout, role: Role, model: GpuModel) -> int:
    """Quota parts of one worker's devices."""
    devices = role.devices
    if devices.kind == DeviceKind.SHARE:
        return devices.milli_on(model) * PARTS_PER_MILLI
    if devices.kind == DeviceKind.MIG:
        instance = instance_of(model.name, devices.profile)
        return mig_parts(instance.compute, instance.total_compute) if instance else PARTS_PER_GPU
    if devices.kind == DeviceKind.SLICE:
        return -(-devices.count * PARTS_PER_GPU // layout.fewest_replicas)
    return devices.count * PARTS_PER_GPU


def model_choices(
    shape: JobShape, models: Sequence[Sequence[GpuModel | None]]
) -> Iterator[tuple[GpuModel | None, ...]]:
    """One model per role, in order of preference; the role with the largest workers chooses first."""
    order = largest_first(shape)
    for choice in islice(product(*(models[position] for position in order)), _MOST_CHOICES):
        by_position = dict(zip(order, choice, strict=True))
        yield tuple(by_position[position] for position in range(len(order)))


def largest_first(shape: JobShape) -> list[int]:
    """Positions of the roles, the largest workers first: GPUs, then CPUs, then memory."""

    def size(position: int) -> tuple[int, int, int, int]:
        role = shape.roles[position]
        devices = role.devices
        gpus = (
            devices.count * 1_000 if devices.kind == DeviceKind.WHOLE else min(devices.kind, 1) * (devices.milli or 1)
        )
        return -gpus, -role.cpu, -role.memory, position

    return sorted(range(len(shape.roles)), key=size)


def _tree(snapshot: Snapshot) -> QueueTree:
    return QueueTree(snapshot.queues)


def _allocated(snapshot: Snapshot) -> tuple[dict[int, Amounts], dict[int, Amounts]]:
    """Sum over all workers, one step per distinct (queue, shape, role, model)."""
    used: dict[int, Amounts] = {key: {} for key in snapshot.derived("queue tree", _tree).queues}
    fixed: dict[int, Amounts] = {key: {} for key in used}
    running, workers, layout = snapshot.running, snapshot.workers, snapshot.layout
    if not len(workers):
        return used, fixed
    job = positions(running.key, workers.job, "job")
    shapes, shape_of = distinct(running.shape)
    model = layout.model_of[positions(layout.nodes.key, workers.node, "node")]
    paths = snapshot.derived("queue tree", _tree).paths
    for (queue, shape, position, number), count in _counted(running.queue[job], shape_of[job], workers.role, model):
        role = shapes[shape].roles[position]
        with_gpus = role.devices.kind != DeviceKind.NONE and number >= 0
        demand = worker_demand(layout, role, layout.models[number] if with_gpus else None, count)
        for book in (used,) if shapes[shape].preemptible else (used, fixed):
            for key in paths[queue]:
                book[key] = _sum((book[key], demand))
    return used, fixed


def _counted(*columns: IntArray) -> Iterator[tuple[list[int], int]]:
    """Different rows of these columns, with how often each occurs. Rows are packed into one integer: sorting those is fast."""
    low = [int(column.min()) for column in columns]
    spans = [int(column.max()) - least + 1 for column, least in zip(columns, low, strict=True)]
    packed = np.zeros(len(columns[0]), dtype=np.int64)
    for column, least, span in zip(columns, low, spans, strict=True):
        packed = packed * span + (column - least)
    _, first, counts = np.unique(packed, return_index=True, return_counts=True)
    for row, count in zip(first.tolist(), counts.tolist(), strict=True):
        yield [int(column[row]) for column in columns], count


def _sum(amounts: Iterator[Amounts] | tuple[Amounts, ...]) -> Amounts:
    total: Amounts = {}
    for one in amounts:
        for resource, amount in one.items():
            total[resource] = total.get(resource, 0) + amount
    return total
