"""Can this job ever run? Asked before a submission writes anything.

Only `preview` may call plan(), and it lies above this app: it registers its answer here when Django starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from muster.clusters.queries import is_observed
from muster.workloads.drafts import Draft
from muster.workloads.errors import Impossible, NoAnswer


@dataclass(frozen=True)
class Finding:
    """Whether a draft could run on the cluster with nobody on it, and what would become of it now.

    `nodes` names where it would start at once, with the workers there; where it is empty, `reason` and `message` say why it
    would wait, or why it never can. Where it would start, `message` says what there is to say of the placement.
    """

    can_run: bool
    reason: str = ""
    message: str = ""
    nodes: Mapping[str, list[str]] = field(default_factory=dict)


Ask = Callable[[Draft], Finding | None]
_registered: list[Ask] = []


def register(ask: Ask) -> None:
    """From now on `ask` answers: within 2 s, None where it cannot."""
    _registered[:] = [ask]


def ask(draft: Draft) -> Finding | None:
    """The answer, None where there is none in time, or where nobody has seen the cluster's nodes yet."""
    if not _registered or not is_observed(draft.cluster.pk):
        return None
    return _registered[0](draft)


def warn_or_refuse(*, strict: bool) -> Callable[[Draft], str | None]:
    """A judge for `submit_job`: an impossible job gets a warning, with `strict` a refusal; no answer stops only `strict`."""
    return lambda draft: objection(ask(draft), strict=strict)


def objection(finding: Finding | None, *, strict: bool) -> str | None:
    """The warning that a finding amounts to, None where there is nothing to say; raised instead of returned with `strict`."""
    if finding is None and strict:
        raise NoAnswer
    if finding is None or finding.can_run:
        return None
    sentence = f"This job can never run here: {finding.message}"
    if strict:
        raise Impossible(sentence, reason=finding.reason)
    return sentence
