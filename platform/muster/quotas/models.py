"""Queues, quotas and priority classes. Written by quotas.actions alone."""

from __future__ import annotations

from django.db import models
from tree_queries.models import TreeNode

from muster.accounts.models import Tenant, dns_label
from muster.clusters.models import Cluster
from muster.common.models import BaseModel


class Queue(TreeNode):
    """A node of the quota tree; leaves take jobs. Each tenant owns one top queue, whose subtree is the tenant's."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="queues")
    name = models.CharField(max_length=42, validators=[dns_label])
    priority = models.IntegerField(default=0, help_text="queues with a higher one are offered what is left first")
    preempt_within = models.BooleanField(default=True)
    reclaim = models.BooleanField(default=True)
    sched_rev = models.BigIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="queue_name_unique"),
            models.UniqueConstraint(fields=["tenant"], condition=models.Q(parent=None), name="queue_one_top"),
        ]

    @property
    def full_name(self) -> str:
        """`tenant/queue`, unique in the platform; used in exports and on pages that show several tenants."""
        return f"{self.tenant.name}/{self.name}"

    def __str__(self) -> str:
        return self.name


class Quota(BaseModel):
    """What a queue gets of one resource in one cluster: `gpu`, `cpu` (milli), `memory` (bytes) or `gpu/FLAVOR`. None: no bound."""

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="quotas")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="quotas")
    resource = models.CharField(max_length=80, default="gpu")
    guaranteed = models.BigIntegerField(default=0)
    limit = models.BigIntegerField(null=True, blank=True)
    borrow = models.BigIntegerField(null=True, blank=True)
    lend = models.BigIntegerField(null=True, blank=True)
    weight = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["queue", "cluster", "resource"], name="quota_once"),
            models.CheckConstraint(condition=models.Q(guaranteed__gte=0), name="quota_guaranteed_positive"),
            models.CheckConstraint(
                condition=models.Q(limit=None) | models.Q(limit__gte=0), name="quota_limit_positive"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.queue} {self.resource}"


class PriorityClass(BaseModel):
    """A named priority of jobs within a queue."""

    name = models.CharField(max_length=42, unique=True, validators=[dns_label])
    value = models.IntegerField()
    is_default = models.BooleanField(default=False)
    may_preempt = models.BooleanField(default=True)

    class Meta:
        ordering = ["-value"]
        verbose_name_plural = "priority classes"
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"], condition=models.Q(is_default=True), name="priority_one_default"
            ),
        ]

    def __str__(self) -> str:
        return self.name
