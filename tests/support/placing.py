"""Rows as the cycle's commit writes them, without a cycle: a job, its attempt, workers, holds, and the Placement to be executed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from muster.clusters.models import Gpu, Node
from muster.common import clock
from muster.placements.choices import HoldKind, HoldState
from muster.placements.models import DeviceHold, Placement
from muster.workloads.choices import Cause, JobState
from muster.workloads.models import Attempt, Job, Role, Worker
from muster.workloads.states import move
from tests.support.builders import World, submit


@transaction.atomic
def place(job: Job, nodes: Sequence[Node]) -> Placement:
    """Start `job` on these nodes, a worker on each in turn, with the lowest GPUs nobody holds."""
    now = clock.now()
    attempt = Attempt.objects.create(job=job, number=job.attempts.count() + 1)
    rank = 0
    for role in Role.objects.filter(job=job).order_by("order"):
        for index in range(role.workers):
            node = nodes[rank % len(nodes)]
            worker = Worker.objects.create(attempt=attempt, role=role, index=index, rank=rank, node=node)
            for gpu in _free(node, role.gpus):
                DeviceHold.objects.create(gpu=gpu, worker=worker, kind=HoldKind.WHOLE, state=HoldState.HELD, since=now)
            rank += 1
    move(job, JobState.STARTING, Cause.COMMIT)
    placement = Placement.objects.create(cluster=job.cluster, attempt=attempt, next_try=now)
    placement.workers.set(attempt.workers.all())
    return placement


def _free(node: Node, count: int) -> list[Gpu]:
    free = Gpu.objects.filter(node=node).exclude(holds__state=HoldState.HELD).order_by("index")[:count]
    assert len(free) == count, f"{node} has {len(free)} GPUs left, not {count}"
    return list(free)


def start(world: World, nodes: Sequence[Node], *, behaviour: dict[str, Any] | None = None, **keys: Any) -> Placement:
    """Submit a job whose pods do as the emulator's `behaviour` annotations say, and place it."""
    told = {f"emulator.muster.dev/{name}": str(value) for name, value in (behaviour or {}).items()}
    return place(submit(world.member, annotations=told, **keys), nodes)
