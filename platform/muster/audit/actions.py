"""Writing the audit trail."""

from __future__ import annotations

from typing import Any

import structlog

from muster.audit.models import AuditEntry


def record(actor: Any, verb: str, target: Any, *, tenant_id: int | None = None, **detail: Any) -> AuditEntry:
    """Write who did `verb` to `target`, in the caller's transaction; `actor` None means the platform."""
    request_id = structlog.contextvars.get_contextvars().get("request_id", "")
    return AuditEntry.objects.create(
        actor_id=getattr(actor, "pk", None),
        verb=verb,
        target_kind=target._meta.model_name,
        target_id=target.pk,
        tenant_id=tenant_id,
        detail=detail,
        request_id=request_id,
    )
