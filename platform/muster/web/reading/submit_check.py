"""The judgement of a job file while it is being written."""

from __future__ import annotations

from typing import Any

from muster.accounts.standing import Standing
from muster.common.errors import MusterError
from muster.workloads import judging
from muster.workloads.drafts import Draft, draft_job


def judge(standing: Standing, source: str) -> dict[str, Any]:
    """`errors` by key, each with its sentences, and `lines` by key; without any, `preview` says what would become of the job."""
    try:
        draft = draft_job(standing, source)
    except MusterError as error:
        problems = error.details.get("problems", [])
        lines = {problem["key"]: problem["line"] for problem in problems if problem["line"]}
        return {"errors": error.fields or {"": [error.message]}, "lines": lines, "level": "bad"}
    finding = judging.ask(draft)
    if finding is not None and not finding.can_run:
        return {"errors": {}, "preview": f"It can never run here: {finding.message}", "level": "warn"}
    return {"errors": {}, "preview": _asks(draft), "level": "info"}


def _asks(draft: Draft) -> str:
    """What the job asks for, in words."""
    spec = draft.spec
    workers = sum(role.get("workers", 1) for role in spec.get("roles") or [spec])
    gpus = float(draft.gpus_wanted)
    what = f"{workers} {'worker' if workers == 1 else 'workers'}"
    share = f"{gpus:g} GPUs in all" if gpus else "no GPUs"
    return f"Asks for {what} with {share}, in queue {draft.queue.full_name} of cluster {draft.cluster.name}."
