"""From an attempt's rows to the plain values manifests are made of: five queries, whatever its size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from muster.clusters.choices import Binding
from muster.kube.manifests.gang import Device, Gang, Member
from muster.kube.manifests.names import attempt_name, pod_name
from muster.placements.choices import HoldState
from muster.placements.models import DeviceHold
from muster.workloads.models import Attempt, Job, Worker

DEFAULT_GRACE_SECONDS = 30
_ROLE_KEYS = ("image", "command", "args")
_JOB_KEYS = (*_ROLE_KEYS, "volumes", "node_selector", "tolerations", "annotations")


def load_gang(attempt_id: int) -> Gang:
    """The attempt with all its workers and what each of them holds."""
    attempt = Attempt.objects.select_related("job__tenant", "job__queue__tenant", "job__cluster").get(pk=attempt_id)
    job = attempt.job
    name = name_of(attempt)
    checkpoint = job.spec.get("checkpoint") or {}
    return Gang(
        attempt_id=attempt.pk,
        job_id=job.pk,
        name=name,
        namespace=job.tenant.namespace,
        tenant=job.tenant.name,
        queue=job.queue.full_name,
        scheduler_name=job.cluster.scheduler_name,
        members=_members(attempt, name),
        grace_seconds=int(checkpoint.get("grace", DEFAULT_GRACE_SECONDS)),
        checkpoint_command=tuple(str(word) for word in checkpoint.get("command") or ()),
    )


def name_of(attempt: Attempt) -> str:
    """The attempt's name in the cluster: its Service's, and the stem of its pods'."""
    return attempt_name(attempt.job.name, attempt.job_id, replica=attempt.replica, number=attempt.number)


def pod_of(worker: Worker) -> tuple[str, str]:
    """Namespace and name of a worker's pod, by the rules it was made by."""
    attempt, role = worker.attempt, worker.role
    name = pod_name(name_of(attempt), role=role.name, role_order=role.order, index=worker.index)
    return attempt.job.tenant.namespace, name


def _members(attempt: Attempt, name: str) -> tuple[Member, ...]:
    workers = list(Worker.objects.filter(attempt=attempt).select_related("role", "node__pool"))
    holds = _holds(workers)
    workers.sort(key=lambda worker: (worker.rank is None, worker.rank or 0, worker.role.order, worker.index))
    return tuple(_member(worker, attempt.job, name, holds[worker.pk]) for worker in workers)


def _holds(workers: Iterable[Worker]) -> dict[int, list[DeviceHold]]:
    held = DeviceHold.objects.filter(worker__in=[worker.pk for worker in workers], state=HoldState.HELD)
    found: dict[int, list[DeviceHold]] = defaultdict(list)
    for hold in held.select_related("gpu__flavor", "nic").order_by("gpu__index", "nic__index"):
        found[hold.worker_id].append(hold)
    return found


def _member(worker: Worker, job: Job, name: str, holds: list[DeviceHold]) -> Member:
    role, pool = worker.role, worker.node.pool if worker.node else None
    return Member(
        worker_id=worker.pk,
        role=role.name,
        role_order=role.order,
        index=worker.index,
        rank=worker.rank,
        pod_name=pod_name(name, role=role.name, role_order=role.order, index=worker.index),
        node=worker.node.name if worker.node else "",
        gpus=role.gpus,
        cpu_milli=role.cpu_milli,
        memory_bytes=role.memory_bytes,
        spec=role_spec(job.spec, role.name),
        binding=pool.binding if pool else Binding.COUNT,
        sharing=pool.sharing if pool else "",
        devices=tuple(_device(hold) for hold in holds if hold.gpu),
        nics=tuple(hold.nic.name for hold in holds if hold.nic),
    )


def _device(hold: DeviceHold) -> Device:
    gpu = hold.gpu
    assert gpu is not None
    return Device(
        index=gpu.index,
        uuid=gpu.uuid,
        kind=hold.kind,
        milli=hold.milli,
        profile=hold.profile,
        start=hold.slices.lower if hold.slices else None,
        memory_bytes=gpu.flavor.memory_bytes if gpu.flavor else 0,
        flavor=gpu.flavor.name if gpu.flavor else "",
        **({"resource": gpu.flavor.resource} if gpu.flavor else {}),
    )


def role_spec(spec: dict[str, Any], role: str) -> dict[str, Any]:
    """What the job file says of one role's containers: the role's own keys, else the job's; variables of both."""
    own: dict[str, Any] = next((entry for entry in spec.get("roles") or () if entry.get("name") == role), {})
    told = {key: spec[key] for key in _JOB_KEYS if spec.get(key)}
    told |= {key: own[key] for key in _ROLE_KEYS if own.get(key)}
    told["env"] = {**(spec.get("env") or {}), **(own.get("env") or {})}
    return told
