"""Who did what. Append-only: a trigger refuses updates and deletions."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.db import models


class AuditEntry(models.Model):
    """One deed of one actor, written by the action that did it. `actor` is null for the platform itself."""

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    verb = models.CharField(max_length=64)
    target_kind = models.CharField(max_length=32)
    target_id = models.BigIntegerField(null=True)
    tenant_id = models.BigIntegerField(null=True, help_text="whose object it was; null for platform-wide deeds")
    detail = models.JSONField(default=dict)
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["target_kind", "target_id"], name="audit_target")]
        triggers = [pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.verb} {self.target_kind} {self.target_id}"
