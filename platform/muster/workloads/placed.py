"""What commit noted of a job's placement, as people read it."""

from __future__ import annotations

from typing import Any

from muster.workloads.models import Attempt, Job
from scheduler.messages import bottleneck_message, shortfall_message
from scheduler.model.plan import Bottleneck, Shortfall


def placement_of(job: Job) -> dict[str, Any] | None:
    """The latest attempt's placement: link quality, the slowest link, and what fell short of what was preferred, each with its
    sentence. None for a job that was never placed."""
    attempt = Attempt.objects.filter(job=job).order_by("-number", "replica").first()
    if attempt is None or not attempt.placement_note:
        return None
    note = attempt.placement_note
    slowest, short = note.get("bottleneck"), note.get("shortfalls", [])
    return {
        "attempt": attempt.number,
        "quality": note.get("quality"),
        "bottleneck": slowest and slowest | {"message": bottleneck_message(Bottleneck(**slowest))},
        "shortfalls": [one | {"message": shortfall_message(Shortfall(**one))} for one in short],
    }
