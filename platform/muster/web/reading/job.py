"""One job: where it is, why it waits, where its workers are, and what happened to it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import yaml
from django.utils import timezone

from muster.accounts.standing import Standing
from muster.common import clock
from muster.placements.actions import grace_of
from muster.placements.queries import position_of, standing_verdict, workers_of
from muster.web.templatetags.mu import duration, first_line
from muster.web.words import event_level
from muster.workloads.choices import ACTIVE_JOB_STATES, FINAL_JOB_STATES, WAITING_JOB_STATES, JobState
from muster.workloads.models import Job, Worker
from muster.workloads.placed import placement_of
from muster.workloads.queries import dependencies_of, job_events, job_verbs

EVENTS = 200
WORKERS = 500
LAST_LINES = 8
NOT_LOOKED_AT = "The scheduler has not looked at it yet; it does within seconds."


def job_page(standing: Standing, job: Job) -> dict[str, Any]:
    """Everything the page shows."""
    workers = list(workers_of(job)[:WORKERS])
    rows = [_row(worker) for worker in workers]
    return {
        "job": job,
        "steps": steps(job, sum(worker.phase == "running" for worker in workers)),
        "verdict": waiting_for(job),
        "workers": rows,
        "worker_names": [row["name"] for row in rows],
        "failure": failure(job, rows),
        "placement": placement_of(job),
        "blockers": blockers(job),
        "grace": grace_of(job),
        "attempts": list(job.attempts.order_by("number")),
        "is_placed": job.state in ACTIVE_JOB_STATES and any(row["gpus"] for row in rows),
        "events": [
            {
                "text": event.message,
                "note": event.actor and f"by {event.actor}",
                "at": event.at,
                "level": event_level(event.kind),
            }
            for event in job_events(job).order_by("-pk")[:EVENTS]
        ],
        "verbs": job_verbs(standing, job),
        "source": job_source(job),
        "facts": facts(job),
    }


def job_source(job: Job) -> str:
    """The job file as it was sent, else its canonical form."""
    return job.source or yaml.safe_dump(job.spec, sort_keys=False, allow_unicode=True)


def _row(worker: Worker) -> dict[str, Any]:
    gpus = [hold.gpu.index for hold in worker.devices if hold.gpu]  # type: ignore[attr-defined]
    return {
        "worker": worker,
        "name": f"{worker.role.name}-{worker.index}",
        "gpus": gpus,
        "state": _worker_state(worker),
    }


def _worker_state(worker: Worker) -> str:
    if worker.is_stopping and worker.phase == "running":
        return "stopping"
    return {"planned": "pending", "gone": "ended"}.get(worker.phase, worker.phase)


def failure(job: Job, rows: list[dict[str, Any]]) -> dict[str, str] | None:
    """Why it failed: what was said, the first worker that failed, and the last lines that one wrote."""
    if job.state != JobState.FAILED:
        return None
    failed = [row for row in rows if row["worker"].exit_code or row["state"] == "failed"]
    found = {"headline": first_line(job.state_message) or "It failed.", "detail": "", "last_lines": ""}
    if failed:
        worker = failed[0]["worker"]
        where = f" on {worker.node.name}" if worker.node else ""
        reason = f", {worker.reason}" if worker.reason else ""
        others = f"; {len(failed) - 1} more failed after it" if len(failed) > 1 else ""
        found["detail"] = f"{failed[0]['name']}{where}: exit code {worker.exit_code}{reason}{others}."
        found["last_lines"] = "\n".join(worker.last_lines.splitlines()[-LAST_LINES:])
    return found


def blockers(job: Job) -> list[tuple[str, str]]:
    """What it waits for of other jobs, as sentences with their level."""
    found = []
    for after, dependency in dependencies_of(job):
        if dependency == "failed":
            found.append((f"Waits for {after.name}, which is {after.state}: this job can never start.", "bad"))
        elif dependency == "open":
            found.append((f"Waits for {after.name}, which is {after.state}.", "info"))
    return found


def waiting_for(job: Job) -> dict[str, Any] | None:
    """Why it waits: the scheduler's sentence, the nodes left after each filter, and what would help."""
    if job.state not in WAITING_JOB_STATES:
        return None
    found: dict[str, Any] = {"position": position_of(job), "since": job.submitted_at, "funnel": []}
    found["headline"] = "Held until somebody releases it." if job.state == JobState.HELD else NOT_LOOKED_AT
    standing = standing_verdict(job)
    if standing is None:
        return found
    verdict = standing.verdict
    most = max([step["left"] for step in verdict.funnel] or [0])
    return found | {
        "headline": f"Waits: {verdict.message}",
        "since": standing.since,
        "starts_at": standing.starts_at,
        "funnel": verdict.funnel,
        "most": most,
    }


def steps(job: Job, running: int) -> list[dict[str, Any]]:
    """Submitted → queued → starting → running → done, with what is known of each."""
    order = ["submitted", "queued", "starting", "running", "done"]
    at = _position(job)
    notes = _notes(job, running)
    current = job.state
    return [
        {
            "label": _label(job, name),
            "done": index < at,
            "current": current if index == at else "",
            "note": notes.get(name, ""),
        }
        for index, name in enumerate(order)
    ]


def _position(job: Job) -> int:
    if job.state in FINAL_JOB_STATES:
        return 4
    if job.state in WAITING_JOB_STATES:
        return 1
    return 2 if job.state == JobState.STARTING else 3


def _label(job: Job, step: str) -> str:
    if step == "queued" and job.state == JobState.HELD:
        return "Held"
    if step == "running" and job.state == JobState.STOPPING:
        return "Stopping"
    if step == "done" and job.state in FINAL_JOB_STATES:
        return job.get_state_display().capitalize()
    return step.capitalize()


def _notes(job: Job, running: int) -> dict[str, str]:
    now = clock.now()
    notes = {"submitted": _time(job.submitted_at)}
    if job.state in WAITING_JOB_STATES:
        notes["queued"] = f"for {duration(now - job.submitted_at)}"
    elif job.started_at:
        notes["queued"] = f"for {duration(job.started_at - job.submitted_at)}"
        notes["running"] = f"for {duration((job.ended_at or now) - job.started_at)}"
    if job.state == JobState.STARTING:
        notes["starting"] = f"{running} of {job.workers_wanted} workers"
    if job.ended_at:
        notes["done"] = _time(job.ended_at)
    return notes


def _time(moment: dt.datetime) -> str:
    return timezone.localtime(moment).strftime("%H:%M:%S")


def facts(job: Job) -> list[tuple[str, Any]]:
    """The job in a list of key and value."""
    spec = job.spec
    roles = spec.get("roles") or [spec]
    wants = [f"{role.get('workers', 1)} × {_worker_words(role)}" for role in roles]
    rows = [
        ("Queue", job.queue.full_name),
        ("Owner", job.owner.username),
        ("Priority", f"{job.priority_class.name} ({job.priority})" if job.priority_class else job.priority),
        ("Asks for", "; ".join(wants)),
        ("Image", spec.get("image")),
        ("Command", " ".join(map(str, spec.get("command") or [])) or None),
        ("Topology", _pairs(spec.get("topology"))),
        ("Wall time", duration(job.walltime_seconds) if job.walltime_seconds else "none"),
        ("Retries", f"{job.own_faults} of {job.retries} used" if job.retries else "none"),
    ]
    return [(name, value) for name, value in rows if value is not None]


def _worker_words(role: dict[str, Any]) -> str:
    gpus = role.get("gpus") or role.get("gpu_fraction")
    parts = [f"{gpus} GPU" if gpus else "no GPU"]
    if role.get("cpus"):
        parts.append(f"{role['cpus']:g} CPU")
    if role.get("memory"):
        parts.append(f"{role['memory'] / 2**30:.0f} GiB")
    return ", ".join(parts)


def _pairs(value: dict[str, Any] | None) -> str | None:
    return ", ".join(f"{key} {one}" for key, one in value.items() if not isinstance(one, dict)) if value else None
