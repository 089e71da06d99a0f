"""The platform's only clock, so that tests can move it."""

from __future__ import annotations

import datetime as dt

from django.utils import timezone


def now() -> dt.datetime:
    """The current time, aware, in UTC."""
    return timezone.now()
