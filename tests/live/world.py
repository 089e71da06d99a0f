"""A small platform in rows, and the changes that happen to it: each writes its Events, as actions do."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from django.db import transaction

from muster.accounts.models import Membership, Tenant, User
from muster.clusters.models import Cluster, Gpu, Node
from muster.common import clock
from muster.common.choices import EventKind
from muster.common.events import OVERVIEW, job_topic, map_topic, record_event
from muster.fragmentation.actions import store_sample
from muster.placements.choices import HoldKind, HoldState
from muster.placements.models import DeviceHold
from muster.quotas.models import Queue, Quota
from muster.workloads.choices import AttemptState, Cause, JobState, WorkerPhase
from muster.workloads.models import Attempt, Job, JobShape, Role, Worker
from muster.workloads.states import move, publish_job


@dataclass
class World:
    """Two tenants with a queue tree, a cluster of three nodes with four GPUs each, and a member of the first tenant."""

    rng: random.Random
    cluster: Cluster = field(init=False)
    tenants: list[Tenant] = field(init=False)
    queues: list[Queue] = field(init=False)
    nodes: list[Node] = field(init=False)
    member: User = field(init=False)
    stranger: User = field(init=False)
    job: Job = field(init=False)

    def __post_init__(self) -> None:
        self.cluster = Cluster.objects.create(name="demo")
        self.tenants = [Tenant.objects.create(name=name, namespace=name) for name in ("vision", "nlp")]
        tops = [Queue.objects.create(tenant=tenant, name="top") for tenant in self.tenants]
        leaves = [Queue.objects.create(tenant=top.tenant, name="leaf", parent=top) for top in tops]
        self.queues = tops + leaves
        for queue in self.queues:
            Quota.objects.create(queue=queue, cluster=self.cluster, guaranteed=4, limit=8)
        self.nodes = [
            Node.objects.create(cluster=self.cluster, name=f"n{i}", ready=True, domains={"rack": f"r{i % 2}"})
            for i in range(3)
        ]
        Gpu.objects.bulk_create(Gpu(node=node, index=i) for node in self.nodes for i in range(4))
        self.member = User.objects.create(username="ada")
        Membership.objects.create(user=self.member, tenant=self.tenants[0])
        self.stranger = User.objects.create(username="eve")
        self.job = self.submit(tenant=0)

    def submit(self, tenant: int | None = None) -> Job:
        """A job of one worker comes."""
        queue = self.queues[2 + (self.rng.randrange(2) if tenant is None else tenant)]
        shape, _ = JobShape.objects.get_or_create(digest="one", defaults={"body": {"gpus": 1}})
        with transaction.atomic():
            job = Job.objects.create(
                tenant=queue.tenant, queue=queue, cluster=self.cluster, owner=self.member, name="j", spec={},
                shape=shape, gpus_wanted=1, submitted_at=clock.now(),
            )  # fmt: skip
            Role.objects.create(job=job)
            publish_job(job)
        return job

    def change(self) -> None:
        """Something happens."""
        deeds = [
            self.submit,
            self.start,
            self.start,
            self.finish,
            self.cancel,
            self.cordon,
            self.break_gpu,
            self.measure,
        ]
        self.rng.choice(deeds)()

    def start(self) -> None:
        """A queued job is given a free GPU."""
        job = self._some(JobState.QUEUED)
        free = Gpu.objects.exclude(holds__state=HoldState.HELD).order_by("id").first()
        if job is None or free is None:
            return
        with transaction.atomic():
            attempt = Attempt.objects.create(job=job, number=job.attempts.count() + 1)
            worker = Worker.objects.create(attempt=attempt, role=job.roles.get(), index=0, node=free.node)
            DeviceHold.objects.create(gpu=free, worker=worker, kind=HoldKind.WHOLE, since=clock.now())
            move(job, JobState.STARTING, Cause.COMMIT)
            move(attempt, AttemptState.BINDING, Cause.OBSERVED)
            move(attempt, AttemptState.RUNNING, Cause.OBSERVED)
            worker.phase = WorkerPhase.RUNNING
            worker.save()
            move(job, JobState.RUNNING, Cause.OBSERVED)
            self._tell(worker)

    def finish(self) -> None:
        """A running job succeeds."""
        job = self._some(JobState.RUNNING)
        if job is None:
            return
        with transaction.atomic():
            worker = Worker.objects.get(attempt__job=job, attempt__state=AttemptState.RUNNING)
            DeviceHold.objects.filter(worker=worker).update(state=HoldState.RELEASED, until=clock.now())
            worker.phase, worker.exit_code = WorkerPhase.SUCCEEDED, 0
            worker.save()
            move(worker.attempt, AttemptState.ENDED, Cause.OBSERVED)
            move(job, JobState.SUCCEEDED, Cause.OBSERVED)
            self._tell(worker)

    def cancel(self) -> None:
        """A queued job is cancelled."""
        job = self._some(JobState.QUEUED)
        if job is not None and job.pk != self.job.pk:
            move(job, JobState.CANCELLED, Cause.CANCEL)

    def cordon(self) -> None:
        """A node is cordoned or taken away, or comes back."""
        node = self.rng.choice(self.nodes)
        node.cordoned, node.present = not node.cordoned, self.rng.random() < 0.8
        with transaction.atomic():
            node.save()
            self._tell_node(node.pk)

    def break_gpu(self) -> None:
        """A GPU goes bad or is repaired."""
        gpu = self.rng.choice(list(Gpu.objects.all()))
        gpu.health = "ok" if gpu.health == "unhealthy" else "unhealthy"
        with transaction.atomic():
            gpu.save()
            self._tell_node(gpu.node_id)

    def measure(self) -> None:
        """A sample of fragmentation is taken."""
        store_sample(self.cluster.pk, clock.now(), {"free_gpus": float(self.rng.randrange(12)), "stranded": []})

    def _some(self, state: str) -> Job | None:
        found = list(Job.objects.filter(state=state).order_by("id"))
        return self.rng.choice(found) if found else None

    def _tell(self, worker: Worker) -> None:
        record_event(job_topic(worker.attempt.job_id), EventKind.WORKER, worker.pk)
        self._tell_node(worker.node_id)

    def _tell_node(self, pk: int) -> None:
        record_event(map_topic(self.cluster.pk), EventKind.NODE, pk)
        record_event(OVERVIEW, EventKind.CLUSTER, self.cluster.pk)

    def topics(self) -> list[str]:
        """Every topic the member may watch."""
        tenant, cluster = self.tenants[0].pk, self.cluster.pk
        return [
            "overview",
            f"cluster/{cluster}/map",
            f"cluster/{cluster}/fragmentation",
            f"queues/{cluster}",
            f"tenant/{tenant}/jobs",
            f"job/{self.job.pk}",
        ]
