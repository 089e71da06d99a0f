"""What is asked and what is answered: values that travel through Redis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from muster.workloads.drafts import Draft


@dataclass(frozen=True, slots=True)
class Question:
    """A job that nobody has submitted yet. `body` is its shape, as a JobShape row holds it; `walltime` in seconds, 0 = none."""

    cluster_id: int
    queue_id: int
    priority: int
    body: dict[str, Any]
    walltime: int = 0
    is_held: bool = False

    @classmethod
    def of(cls, draft: Draft) -> Question:
        """The question that a draft puts."""
        return cls(
            cluster_id=draft.cluster.pk,
            queue_id=draft.queue.pk,
            priority=draft.priority,
            body=draft.shape_body,
            walltime=int(draft.spec.get("walltime") or 0),
            is_held=bool(draft.spec.get("held")),
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What would become of it. `nodes` names where it would start at once, with the workers there; empty: it would wait.

    `reason` and `message` say why it would wait, or, where `can_run` is false, why it never could; where it would start,
    `message` says what there is to say of the placement.
    """

    can_run: bool
    nodes: dict[str, list[str]] = field(default_factory=dict)
    reason: str = ""
    message: str = ""
    funnel: list[str] = field(default_factory=list)

    @property
    def starts_now(self) -> bool:
        return bool(self.nodes)
