"""Intent rows, device holds and verdicts: the contract of cycle and kube.

Writers: DeviceHold by the cycle's commit (nominated, held) and placements.actions.settle (released, or replaced by what was
seen). Placement, and Stops of the scheduler, by commit; Stops for cancel, fault and walltime by placements.actions; the progress
columns of every intent by the executor. Verdicts by commit. NodeOrder by placements.actions, Orphan by reconcile.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import IntegerRangeField
from django.db import models
from django.db.models import Deferrable, Q

from muster.clusters.models import Cluster, Gpu, Nic, Node
from muster.common.models import BaseModel
from muster.placements.choices import (
    OPEN_INTENTS,
    CheckpointOutcome,
    HoldKind,
    HoldState,
    IntentState,
    NodeVerb,
    StopCause,
)
from muster.quotas.models import Queue
from muster.workloads.models import Attempt, Job, JobShape, Worker

HELD = Q(state=HoldState.HELD)


class DeviceHold(models.Model):
    """The only record of who has a device: all of a GPU, a share in thousandths, a MIG instance, a time slice, or a NIC's place."""

    id = models.BigAutoField(primary_key=True)
    gpu = models.ForeignKey(Gpu, null=True, on_delete=models.PROTECT, related_name="holds")
    nic = models.ForeignKey(Nic, null=True, on_delete=models.PROTECT, related_name="holds")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="holds")
    kind = models.CharField(max_length=5, choices=HoldKind.choices)
    milli = models.PositiveSmallIntegerField(default=1000, help_text="thousandths of the GPU, for shares and slices")
    slices = IntegerRangeField(null=True, help_text="MIG memory slices, [start, end)")
    profile = models.CharField(max_length=24, blank=True, help_text="MIG profile")
    state = models.CharField(max_length=9, choices=HoldState.choices, default=HoldState.HELD)
    is_observed = models.BooleanField(default=False, help_text="seen on the node; false: as planned")
    since = models.DateTimeField()
    until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(gpu=None, nic__isnull=False) | Q(gpu__isnull=False, nic=None), name="hold_one_device"
            ),
            models.CheckConstraint(
                condition=~Q(kind=HoldKind.MIG) | Q(slices__isnull=False), name="hold_mig_has_slices"
            ),
            ExclusionConstraint(
                name="hold_one_whole",
                expressions=[("gpu", "=")],
                condition=HELD & Q(kind=HoldKind.WHOLE),
                deferrable=Deferrable.IMMEDIATE,
            ),
            ExclusionConstraint(
                name="hold_kinds_never_meet",
                expressions=[("gpu", "="), ("kind", "<>")],
                condition=HELD & Q(gpu__isnull=False),
                deferrable=Deferrable.IMMEDIATE,
            ),
            ExclusionConstraint(
                name="hold_slices_never_overlap",
                expressions=[("gpu", "="), ("slices", "&&")],
                condition=HELD & Q(kind=HoldKind.MIG),
                deferrable=Deferrable.IMMEDIATE,
            ),
            models.UniqueConstraint(
                fields=["gpu"], condition=Q(state=HoldState.NOMINATED, kind=HoldKind.WHOLE), name="hold_one_nomination"
            ),
        ]
        indexes = [
            models.Index(fields=["gpu"], condition=~Q(state="released"), name="hold_live_gpu"),
            models.Index(fields=["nic"], condition=~Q(state="released"), name="hold_live_nic"),
            models.Index(fields=["worker"], name="hold_worker"),
        ]


class Intent(BaseModel):
    """What an executor must make true: claimed under a lease, tried again with back-off, safe to do twice."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    state = models.CharField(max_length=6, choices=IntentState.choices, default=IntentState.TODO)
    tries = models.PositiveIntegerField(default=0)
    next_try = models.DateTimeField()
    last_error = models.TextField(blank=True)
    lease_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class Placement(Intent):
    """Create and bind the workers it names, all or none. An attempt has at most one open."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="placements")
    workers = models.ManyToManyField(Worker, related_name="placements")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attempt"], condition=Q(state__in=OPEN_INTENTS), name="placement_one_open"),
        ]
        indexes = [models.Index(fields=["next_try"], condition=Q(state__in=OPEN_INTENTS), name="placement_due")]


class Stop(Intent):
    """End a whole attempt (`worker` null) or one of its workers. At most one open of each."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="stops")
    worker = models.ForeignKey(Worker, null=True, on_delete=models.CASCADE, related_name="stops")
    cause = models.CharField(max_length=12, choices=StopCause.choices)
    by_user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    by_job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    grace_seconds = models.PositiveIntegerField(default=30)
    message = models.TextField(blank=True)
    lost_gpu_seconds = models.BigIntegerField(default=0)
    outcome = models.CharField(
        max_length=8,
        blank=True,
        choices=CheckpointOutcome.choices,
        help_text="of the checkpoint; empty: none was asked for",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "worker"],
                condition=Q(state__in=OPEN_INTENTS),
                nulls_distinct=False,
                name="stop_one_open",
            ),
        ]
        indexes = [models.Index(fields=["next_try"], condition=Q(state__in=OPEN_INTENTS), name="stop_due")]


class NodeOrder(Intent):
    """Cordon or uncordon a node; `Node.cordoned` changes only when the informer has seen it."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="orders")
    verb = models.CharField(max_length=8, choices=NodeVerb.choices)
    by_user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["node"], condition=Q(state__in=OPEN_INTENTS), name="order_one_open")
        ]
        indexes = [models.Index(fields=["next_try"], condition=Q(state__in=OPEN_INTENTS), name="order_due")]


class Orphan(Intent):
    """An object of ours in the cluster without a live attempt: delete it, with exactly this uid."""

    kind = models.CharField(max_length=16)
    namespace = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    uid = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "uid"], name="orphan_once")]
        indexes = [models.Index(fields=["next_try"], condition=Q(state__in=OPEN_INTENTS), name="orphan_due")]


class Verdict(BaseModel):
    """Why jobs of one shape wait in one queue of one cluster: a reason code with its funnel. Shared by all such jobs."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    shape = models.ForeignKey(JobShape, on_delete=models.CASCADE, related_name="+")
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(
        max_length=64, help_text="of the reason and what it is about; its figures change in place"
    )
    reason = models.CharField(max_length=32)
    message = models.TextField()
    fields = models.JSONField(default=dict)
    funnel = models.JSONField(default=list, help_text="nodes left after each filter, with the cause")
    helps = models.JSONField(default=list, help_text="what would let it start")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "shape", "queue", "digest"], name="verdict_class")]


class JobVerdict(models.Model):
    """The verdict a waiting job stands under; written only when it changes."""

    job = models.OneToOneField(Job, primary_key=True, on_delete=models.CASCADE, related_name="standing")
    verdict = models.ForeignKey(Verdict, on_delete=models.CASCADE, related_name="jobs")
    since = models.DateTimeField()
    starts_at = models.DateTimeField(null=True, help_text="its reserved start, when it has one")
