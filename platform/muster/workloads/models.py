"""Jobs and what they are made of.

Writers: a Job's spec columns by workloads.actions; states of Job and Attempt by `workloads.states.move` alone (a trigger refuses
what its table does not hold); Attempt and Worker rows by the cycle's commit; a Worker's observed columns by the informer, through
`placements.actions.observe_workers`.
"""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.db import models

from muster.accounts.models import Tenant
from muster.clusters.models import Cluster, Node
from muster.common.models import BaseModel
from muster.quotas.models import PriorityClass, Queue
from muster.workloads.choices import AttemptState, JobKind, JobState, WorkerPhase
from muster.workloads.transitions import ATTEMPT_TRANSITIONS, JOB_TRANSITIONS


class JobShape(models.Model):
    """All that decides where a job can go, once per distinct content: jobs that ask alike share one."""

    id = models.BigAutoField(primary_key=True)
    digest = models.CharField(max_length=64, unique=True)
    body = models.JSONField(help_text="the canonical form's keys that concern placement: seconds, bytes, integers")


class Job(BaseModel):
    """What a user submits: roles of workers that start together as one gang (inference: each replica by itself)."""

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="jobs")
    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="jobs")
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="jobs")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="jobs")
    name = models.CharField(max_length=63)
    spec = models.JSONField(help_text="canonical form of the job file")
    source = models.TextField(blank=True, help_text="the job file as it was sent, for its YAML tab and clones")
    shape = models.ForeignKey(JobShape, on_delete=models.PROTECT, related_name="jobs")
    kind = models.CharField(max_length=12, choices=JobKind.choices, default=JobKind.TRAINING)
    priority = models.IntegerField(default=50)
    priority_class = models.ForeignKey(PriorityClass, null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.QUEUED)
    state_cause = models.CharField(max_length=12, blank=True)
    state_message = models.TextField(blank=True, help_text="a sentence for people: why it is as it is")
    submitted_at = models.DateTimeField()
    not_before = models.DateTimeField(null=True, help_text="back-off")
    started_at = models.DateTimeField(null=True, help_text="when every minimum worker ran, in the latest attempt")
    ended_at = models.DateTimeField(null=True)
    walltime_seconds = models.PositiveBigIntegerField(null=True)
    retries = models.PositiveSmallIntegerField(default=0)
    own_faults = models.PositiveSmallIntegerField(default=0, help_text="attempts that ended by the job's own fault")
    unwinds = models.PositiveSmallIntegerField(default=0, help_text="attempts in a row that the cluster refused")
    gpus_wanted = models.DecimalField(max_digits=12, decimal_places=3, default=0)
    workers_wanted = models.PositiveIntegerField(default=1)
    sched_rev = models.BigIntegerField(default=1)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["cluster", "state"], name="job_cluster_state"),
            models.Index(fields=["tenant", "state", "-id"], name="job_tenant_state"),
            models.Index(fields=["queue", "state"], name="job_queue_state"),
            models.Index(fields=["owner", "-id"], name="job_owner"),
        ]
        triggers = [pgtrigger.FSM(name="job_states", field="state", transitions=JOB_TRANSITIONS)]

    def __str__(self) -> str:
        return self.name


class JobDependency(models.Model):
    """`job` waits until `after` has succeeded."""

    id = models.BigAutoField(primary_key=True)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="dependencies")
    after = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="dependents")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "after"], name="dependency_once")]


class IdempotencyKey(BaseModel):
    """A key under which a user sent a POST in the last 24 h, with what came of it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=128)
    body_digest = models.CharField(max_length=64)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="idempotency_once")]


class Role(models.Model):
    """Workers of one kind in a job. `ends_job`: when this role has succeeded the job has, and the others are stopped."""

    id = models.BigAutoField(primary_key=True)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="roles")
    order = models.PositiveSmallIntegerField(default=0)
    name = models.CharField(max_length=42, default="worker")
    workers = models.PositiveIntegerField(default=1)
    min_workers = models.PositiveIntegerField(default=1)
    gpus = models.PositiveSmallIntegerField(default=0, help_text="whole GPUs per worker")
    cpu_milli = models.BigIntegerField(default=0, help_text="per worker")
    memory_bytes = models.BigIntegerField(default=0, help_text="per worker")
    ends_job = models.BooleanField(default=False)

    class Meta:
        ordering = ["job_id", "order"]
        constraints = [models.UniqueConstraint(fields=["job", "name"], name="role_name_unique")]

    def __str__(self) -> str:
        return self.name


class Attempt(BaseModel):
    """One run of a job (inference: of one replica)."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="attempts")
    replica = models.PositiveIntegerField(default=0)
    number = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=10, choices=AttemptState.choices, default=AttemptState.CREATING)
    cause = models.CharField(max_length=12, blank=True, help_text="why it ended or is ending")
    message = models.TextField(blank=True)
    placement_note = models.JSONField(
        default=dict, help_text="bottleneck, quality and what fell short of what was preferred"
    )
    bound_at = models.DateTimeField(null=True, help_text="last binding; the start clock runs from here")
    running_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    sched_rev = models.BigIntegerField(default=1)

    class Meta:
        ordering = ["job_id", "replica", "number"]
        constraints = [
            models.UniqueConstraint(fields=["job", "replica", "number"], name="attempt_number_unique"),
            models.UniqueConstraint(
                fields=["job", "replica"], condition=~models.Q(state="ended"), name="attempt_one_live"
            ),
        ]
        indexes = [models.Index(fields=["state"], condition=~models.Q(state="ended"), name="attempt_live")]
        triggers = [pgtrigger.FSM(name="attempt_states", field="state", transitions=ATTEMPT_TRANSITIONS)]

    def __str__(self) -> str:
        return f"{self.job_id}.{self.replica}.{self.number}"


class Worker(models.Model):
    """One pod of an attempt. Rank order is index order within a role; `rank` is null for roles that take no rank."""

    id = models.BigAutoField(primary_key=True)
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="workers")
    role = models.ForeignKey(Role, on_delete=models.CASCADE, related_name="+")
    index = models.PositiveIntegerField()
    rank = models.PositiveIntegerField(null=True)
    node = models.ForeignKey(Node, null=True, on_delete=models.PROTECT, related_name="workers")
    note = models.TextField(blank=True, help_text="why it sits below what it preferred")
    pod_name = models.CharField(max_length=253, blank=True)
    pod_uid = models.CharField(max_length=64, blank=True)
    phase = models.CharField(max_length=9, choices=WorkerPhase.choices, default=WorkerPhase.PLANNED)
    is_stopping = models.BooleanField(default=False, help_text="the pod has a deletion time")
    exit_code = models.IntegerField(null=True)
    reason = models.CharField(max_length=120, blank=True)
    message = models.TextField(blank=True)
    last_lines = models.TextField(blank=True, help_text="the last lines of its log, kept with a failure")
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["attempt_id", "role_id", "index"]
        constraints = [models.UniqueConstraint(fields=["attempt", "role", "index"], name="worker_once")]
        indexes = [
            models.Index(fields=["pod_uid"], name="worker_pod_uid"),
            models.Index(fields=["node"], name="worker_node"),
        ]

    def __str__(self) -> str:
        return f"{self.role}-{self.index}"


class AvoidedNode(models.Model):
    """A node a job is not put on again until `until`, unless no other matches."""

    id = models.BigAutoField(primary_key=True)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="avoided")
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="+")
    until = models.DateTimeField()
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "node"], name="avoided_once")]


class StoredLog(models.Model):
    """Where a worker's log lies after its pod is gone: the last MiB, kept 30 days in the platform's log storage."""

    worker = models.OneToOneField(Worker, primary_key=True, on_delete=models.CASCADE, related_name="stored_log")
    name = models.CharField(max_length=200)
    size = models.PositiveIntegerField()
    is_cut = models.BooleanField(default=False, help_text="its beginning is missing")
    stored_at = models.DateTimeField()


class JobEvent(models.Model):
    """What happened to a job, in words. Append-only."""

    id = models.BigAutoField(primary_key=True)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    kind = models.CharField(max_length=24)
    message = models.TextField()
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["job", "id"], name="job_event_order")]
        triggers = [pgtrigger.Protect(name="append_only", operation=pgtrigger.Update)]
