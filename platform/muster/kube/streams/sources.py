"""Where a worker's log comes from: its pod, or what was stored when the pod is gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from muster.clusters.models import Cluster
from muster.common.errors import MusterError, NotFound
from muster.kube import errors
from muster.kube.executor.load import pod_of
from muster.kube.gateway import Gateway
from muster.kube.gateways import gateway_to
from muster.kube.streams.lines import KEPT_BYTES, TailKeeper
from muster.kube.streams.store import READ_SECONDS, stored_content
from muster.workloads.choices import FINAL_JOB_STATES, AttemptState, WorkerPhase
from muster.workloads.models import Job, Worker

LIVE = (WorkerPhase.PENDING, WorkerPhase.RUNNING)
UNSTARTED = {WorkerPhase.PLANNED, WorkerPhase.PENDING}


@dataclass(frozen=True)
class Source:
    """One worker's log."""

    worker: str
    rank: int | None
    namespace: str
    pod: str
    phase: str
    stored: bytes | None

    @property
    def is_live(self) -> bool:
        """Whether its pod may write more."""
        return self.phase in LIVE


def sources_of(job: Job, *, worker: str = "", attempt: int | None = None) -> list[Source]:
    """The workers of a job's latest attempt (or that number), in rank order; with `worker` (ROLE-INDEX) only that one.

    NotFound where there is no such worker; a job that never started has none.
    """
    attempts = job.attempts.order_by("-number") if attempt is None else job.attempts.filter(number=attempt)
    latest = attempts.first()
    rows = Worker.objects.filter(attempt=latest).select_related("attempt__job__tenant", "role", "stored_log")
    workers = [row for row in rows.order_by("rank", "role__order", "index") if worker in ("", row_name(row))]
    if worker and not workers:
        raise NotFound(f"Job {job.pk} has no worker {worker}.")
    return [_source(row) for row in workers]


def is_coming(job: Job, sources: Sequence[Source], *, attempt: int | None = None) -> bool:
    """Whether pods of these workers are still to be made: of a job that waits, or of a gang that is being created.

    Where some have run already, the others do not hold back what these write.
    """
    phases = {source.phase for source in sources}
    if phases - UNSTARTED or (phases and WorkerPhase.PLANNED not in phases):
        return False
    if attempt is not None:
        return job.attempts.filter(number=attempt).exclude(state=AttemptState.ENDED).exists()
    return not Job.objects.filter(pk=job.pk, state__in=FINAL_JOB_STATES).exists()


def row_name(worker: Worker) -> str:
    """ROLE-INDEX, as job files and pages name a worker."""
    return f"{worker.role.name}-{worker.index}"


def _source(worker: Worker) -> Source:
    namespace, pod = pod_of(worker)
    return Source(
        worker=row_name(worker),
        rank=worker.rank,
        namespace=namespace,
        pod=pod,
        phase=worker.phase,
        # A pod that runs knows more than what was stored of it while it was being stopped.
        stored=None if worker.phase in LIVE else stored_content(worker),
    )


def gateway_for(cluster: Cluster) -> Gateway | None:
    """The cluster's gateway; None when its connection cannot be used: stored logs are there all the same."""
    try:
        return gateway_to(cluster)
    except MusterError:
        return None


def read(source: Source, gateway: Gateway | None, *, tail: int | None = None) -> bytes:
    """The end of a log as it is now: at most a MiB, at most `tail` lines; empty where there is none yet, or none any more."""
    content = source.stored
    if content is None and gateway is not None:
        content = _read_pod(source, gateway, tail)
    if content and tail is not None:
        content = b"".join(content.splitlines(keepends=True)[-tail:]) if tail else b""
    return content or b""


def _read_pod(source: Source, gateway: Gateway, tail: int | None) -> bytes:
    keeper = TailKeeper(KEPT_BYTES)
    try:
        with gateway.log(source.namespace, source.pod, read_seconds=READ_SECONDS, tailLines=tail) as chunks:
            keeper.take(chunks)
    except errors.KubeError:
        # Gone, not started, or out of reach: what was read so far is what there is.
        pass
    return keeper.tail().content
