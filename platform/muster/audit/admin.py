"""The audit trail, read-only."""

from __future__ import annotations

from django.contrib import admin

from muster.audit.models import AuditEntry
from muster.common.admin import ReadOnlyAdmin


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """Who did what."""

    list_display = ("at", "actor", "verb", "target_kind", "target_id", "request_id")
    list_filter = ("verb", "target_kind")
    search_fields = ("actor__username", "verb", "request_id")
    list_select_related = ("actor",)
    date_hierarchy = "at"
    show_full_result_count = False
