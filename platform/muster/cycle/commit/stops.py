"""Stops of the jobs that give way."""

from __future__ import annotations

from collections.abc import Sequence

from muster.cycle.commit.fresh import Locked
from muster.placements.actions.ending import end_attempt
from muster.workloads.choices import Cause
from muster.workloads.models import Job
from scheduler.model.plan import Stop as PlannedStop
from scheduler.model.plan import Unit


def write_stops(units: Sequence[Unit], locked: Locked) -> None:
    """Order the victims of these units ended, each once, for the job that needs their devices."""
    for unit in units:
        for stop in unit.stops:
            _write_stop(stop, locked.jobs[unit.job], locked)


def _write_stop(stop: PlannedStop, by_job: Job, locked: Locked) -> None:
    cause = Cause(stop.cause)
    for attempt in locked.victims.pop(stop.job, []):
        end_attempt(attempt, cause, message=f"Stopped for {by_job.name} ({cause.label}).", by_job=by_job)
