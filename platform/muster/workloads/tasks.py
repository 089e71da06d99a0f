"""Retention."""

from __future__ import annotations

from celery import shared_task

from muster.workloads.actions import forget_keys


@shared_task
def prune_keys() -> None:
    """Delete idempotency keys that are past their day."""
    forget_keys()
