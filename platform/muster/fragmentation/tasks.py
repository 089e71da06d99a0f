"""Retention of samples."""

from __future__ import annotations

from celery import shared_task

from muster.common import clock
from muster.fragmentation import actions


@shared_task
def prune_samples() -> None:
    """Let go of samples that are too old or too many."""
    actions.prune_samples(clock.now())
