"""The token that says an intent is mine."""

from __future__ import annotations

from muster.common.errors import Conflict
from muster.placements.choices import IntentState
from muster.placements.models import Intent


class LeaseLost(Conflict):
    """Another process has taken over this intent."""

    code = "lease_lost"


def check_lease(intent: Intent) -> None:
    """Lock an intent and make sure that it is still the caller's; raises LeaseLost."""
    mine = type(intent)._default_manager.select_for_update(no_key=True).filter(**_mine(intent))
    if not mine.exists():
        raise LeaseLost


def update_mine(intent: Intent, **columns: object) -> None:
    """Write progress columns of an intent that is still the caller's; raises LeaseLost."""
    if not type(intent)._default_manager.filter(**_mine(intent)).update(**columns):
        raise LeaseLost
    for name, value in columns.items():
        setattr(intent, name, value)


def _mine(intent: Intent) -> dict[str, object]:
    # A claim that was given back has no token; a filter on None would find every unclaimed row.
    if intent.lease_token is None:
        raise LeaseLost
    return {"pk": intent.pk, "state": IntentState.DOING, "lease_token": intent.lease_token}
