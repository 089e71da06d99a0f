"""Retention of the two outboxes."""

from __future__ import annotations

import datetime as dt

from celery import shared_task

from muster.common import clock
from muster.common.models import Change, Event

EVENTS_KEPT = dt.timedelta(minutes=10)
CHANGES_KEPT = dt.timedelta(hours=1)


@shared_task
def prune_events() -> None:
    """Delete Events that no resume can ask for any more, and Changes that every snapshot has long passed.

    Unnumbered Changes stay: a cluster whose cycle stood still must still find them.
    """
    now = clock.now()
    Event.objects.filter(created_at__lt=now - EVENTS_KEPT).delete()
    Change.objects.filter(created_at__lt=now - CHANGES_KEPT).exclude(seq=None).delete()
