"""The judgement of a job file while it is being written."""

from __future__ import annotations

from typing import Any

from muster.accounts.standing import Standing
from muster.common.errors import MusterError
from muster.workloads import judging
from muster.workloads.drafts import Draft, draft_job
from muster.workloads.judging import Finding

NAMED = 4


def judge(standing: Standing, source: str) -> dict[str, Any]:
    """`errors` by key, each with its sentences, and `lines` by key; without any, `preview` says what would become of the job."""
    try:
        draft = draft_job(standing, source)
    except MusterError as error:
        problems = error.details.get("problems", [])
        lines = {problem["key"]: problem["line"] for problem in problems if problem["line"]}
        return {"errors": error.fields or {"": [error.message]}, "lines": lines, "level": "bad"}
    sentence, level = preview(judging.ask(draft))
    return {"errors": {}, "preview": f"{asks(draft)} {sentence}".strip(), "level": level}


def preview(finding: Finding | None) -> tuple[str, str]:
    """What the scheduler would do with it now, as a sentence and how it is to be marked; nothing where nobody answers."""
    if finding is None:
        return "", "info"
    if not finding.can_run:
        return f"It can never run here: {finding.message}", "warn"
    if not finding.nodes:
        return f"It would wait: {finding.message}", "warn"
    nodes = list(finding.nodes)
    more = f" and {len(nodes) - NAMED} more" if len(nodes) > NAMED else ""
    return f"It starts now, on {', '.join(nodes[:NAMED])}{more}. {finding.message}".strip(), "good"


def asks(draft: Draft) -> str:
    """What the job asks for, in words."""
    spec = draft.spec
    workers = sum(role.get("workers", 1) for role in spec.get("roles") or [spec])
    gpus = float(draft.gpus_wanted)
    what = f"{workers} {'worker' if workers == 1 else 'workers'}"
    share = f"{gpus:g} GPUs in all" if gpus else "no GPUs"
    return f"Asks for {what} with {share}, in queue {draft.queue.full_name} of cluster {draft.cluster.name}."
