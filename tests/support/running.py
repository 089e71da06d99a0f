"""Placed jobs for tests, as a commit would leave them, and pods as an informer would see them.

attempt = start(job, [node, node])        # one worker after the other, round the nodes
see(attempt, "running")                   # every pod runs
see(attempt, {1: dict(phase="failed", exit_code=1)})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from muster.clusters.models import Gpu, Node
from muster.common import clock
from muster.placements.actions import (
    PodMade,
    WorkerSeen,
    claim_intents,
    finish_intent,
    observe_workers,
    record_bound,
    record_created,
)
from muster.placements.choices import HoldKind
from muster.placements.models import DeviceHold, Placement
from muster.workloads.models import Attempt, Job, Worker
from tests.support.placing import place


def start(job: Job, nodes: Sequence[Node]) -> Attempt:
    """Put a queued job on these nodes, its workers in turn, each on the lowest GPUs nobody holds."""
    attempt = place(job, nodes).attempt
    attempt.refresh_from_db()
    job.refresh_from_db()
    return attempt


def free_gpus(node: Node) -> list[Gpu]:
    """GPUs of a node that nobody holds, by index."""
    return list(Gpu.objects.filter(node=node).exclude(holds__state="held").order_by("index"))


def hold(worker: Worker, gpus: Sequence[Gpu], **fields: Any) -> list[DeviceHold]:
    """Give these GPUs to a worker, whole unless told otherwise."""
    columns = {"kind": HoldKind.WHOLE, "since": clock.now()} | fields
    return [DeviceHold.objects.create(gpu=gpu, worker=worker, **columns) for gpu in gpus]


def uid_of(worker: Worker) -> str:
    """The uid that `bind` gave the worker's pod."""
    return f"uid-{worker.pk}"


def claim(cluster_id: int) -> Placement:
    """Claim the one Placement that is due."""
    [placement] = claim_intents(cluster_id, [Placement], limit=1)
    assert isinstance(placement, Placement)
    return placement


def bind(attempt: Attempt) -> None:
    """Create and bind all pods, as the executor does when nothing goes wrong."""
    placement = claim(attempt.job.cluster_id)
    assert placement.attempt_id == attempt.pk
    made = {worker.pk: PodMade(f"pod-{worker.pk}", uid_of(worker)) for worker in attempt.workers.all()}
    record_created(placement, made)
    record_bound(placement)
    finish_intent(placement)
    attempt.refresh_from_db()


def see(attempt: Attempt, pods: str | Mapping[int, Mapping[str, Any]]) -> None:
    """Observe pods: all in one phase, or by position in rank order what is seen of each."""
    workers = list(attempt.workers.order_by("pk"))
    seen = {number: {"phase": pods} for number in range(len(workers))} if isinstance(pods, str) else pods
    observe_workers(
        attempt.job.cluster_id,
        [WorkerSeen(worker_id=workers[n].pk, uid=uid_of(workers[n]), **told) for n, told in seen.items()],
    )
    attempt.refresh_from_db()
    attempt.job.refresh_from_db()


def run(job: Job, nodes: Sequence[Node]) -> Attempt:
    """Place a job and see all of it run."""
    attempt = start(job, nodes)
    bind(attempt)
    see(attempt, "running")
    return attempt


def held_gpus(attempt: Attempt) -> list[int]:
    """pks of the GPUs that the attempt holds now."""
    held = DeviceHold.objects.filter(worker__attempt=attempt, state="held")
    return list(held.order_by("gpu_id").values_list("gpu_id", flat=True))
