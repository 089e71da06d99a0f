"""How a stop's checkpoint ended, as the workers said. Pure.

A worker, or the checkpoint command in its container, says it in its termination message (`/dev/termination-log`): a text that
begins with `checkpoint saved` or `checkpoint failed`. Exit codes tell nothing: programs end by SIGTERM with or without a
checkpoint, and Kubernetes keeps no exit code of a preStop command.
"""

from __future__ import annotations

from collections.abc import Iterable

from muster.placements.choices import CheckpointOutcome

SAVED, FAILED = "checkpoint saved", "checkpoint failed"


def outcome_of(messages: Iterable[str]) -> tuple[CheckpointOutcome, str]:
    """The outcome for workers that ended with these messages, in words. One that failed outweighs any that saved."""
    told = [message.strip() for message in messages]
    failed = next((message for message in told if message.lower().startswith(FAILED)), "")
    if failed:
        return CheckpointOutcome.FAILED, f"The {failed[0].lower()}{failed[1:]}"
    saved = next((message for message in told if message.lower().startswith(SAVED)), "")
    if saved:
        return CheckpointOutcome.SAVED, "The checkpoint was saved before the stop."
    return CheckpointOutcome.SILENT, "Nobody said whether the checkpoint was saved before the stop."
