"""Codes as words for people. Sentences about a job come from the scheduler; these are labels and short remarks."""

from __future__ import annotations

EVENT_LEVELS = {
    "running": "good",
    "succeeded": "good",
    "failed": "bad",
    "stopping": "warn",
    "warning": "warn",
    "refused": "warn",
    "cancelled": "warn",
    "held": "warn",
}


def event_level(kind: str) -> str:
    """How an event is marked in the timeline: good, warn, bad or nothing."""
    return EVENT_LEVELS.get(kind, "")
