"""Rows that every app shares: the two outboxes and the base model."""

from __future__ import annotations

from django.db import models


class BaseModel(models.Model):
    """A row with its time of creation."""

    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True


class Change(models.Model):
    """Something the scheduler of one cluster must load again.

    Written by actions, in the transaction of the change. Only the cycle numbers it (`seq`), under the cluster's lock: a number
    given at insert time could commit after a higher one and be passed by.
    """

    id = models.BigAutoField(primary_key=True)
    cluster_id = models.BigIntegerField()
    kind = models.CharField(max_length=16)
    object_id = models.BigIntegerField()
    seq = models.BigIntegerField(null=True, default=None)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster_id", "seq"], name="change_seq_unique")]
        indexes = [models.Index(fields=["cluster_id"], condition=models.Q(seq=None), name="change_unnumbered")]


class Event(models.Model):
    """Something a page may show. `seq` is written by the publisher and nobody else; `gone` says the object left the topic."""

    id = models.BigAutoField(primary_key=True)
    topic = models.CharField(max_length=64)
    kind = models.CharField(max_length=16)
    object_id = models.BigIntegerField()
    gone = models.BooleanField(default=False)
    seq = models.BigIntegerField(null=True, default=None, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["id"], condition=models.Q(seq=None), name="event_unnumbered"),
            models.Index(fields=["created_at"], name="event_age"),
        ]
