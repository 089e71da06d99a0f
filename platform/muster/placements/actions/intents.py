"""Claiming intents and reporting on them: the executor's half of the contract.

A claim is a lease with a token. Whoever finds his token replaced has lost the intent to another process and must stop at once.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from muster.common import clock
from muster.placements.actions.ending import lock_attempt
from muster.placements.actions.leases import update_mine
from muster.placements.actions.settling import settle
from muster.placements.choices import OPEN_INTENTS, IntentState
from muster.placements.models import Intent, Placement, Stop
from muster.workloads.choices import AttemptState

LEASE = dt.timedelta(seconds=60)
FIRST_RETRY = dt.timedelta(seconds=1)
LAST_RETRY = dt.timedelta(seconds=60)


def claim_intents(cluster_id: int, kinds: Sequence[type[Intent]], *, limit: int) -> list[Intent]:
    """Take at most `limit` due intents of these models, in their order; each comes with a lease of 60 s.

    A Stop is not given out while its attempt has an open Placement: who holds that one takes the attempt back himself, so that
    nothing is created behind a deletion.
    """
    claimed: list[Intent] = []
    for kind in kinds:
        if len(claimed) < limit:
            claimed += _claim(kind, cluster_id, limit - len(claimed))
    return claimed


@transaction.atomic
def _claim(kind: type[Intent], cluster_id: int, limit: int) -> list[Intent]:
    now = clock.now()
    due = _due(kind, cluster_id, now).select_for_update(skip_locked=True, of=("self",), no_key=True)
    rows = list(due.order_by("next_try", "pk")[:limit])
    for row in rows:
        row.state, row.tries = IntentState.DOING, row.tries + 1
        row.lease_token, row.lease_until = uuid.uuid4(), now + LEASE
    kind._default_manager.bulk_update(rows, ["state", "tries", "lease_token", "lease_until"])
    return rows


def _due(kind: type[Intent], cluster_id: int, now: dt.datetime) -> QuerySet[Intent]:
    rows = kind._default_manager.filter(
        Q(lease_until=None) | Q(lease_until__lt=now), cluster_id=cluster_id, state__in=OPEN_INTENTS, next_try__lte=now
    )
    if kind is Stop:
        open_placement = Placement.objects.filter(attempt=OuterRef("attempt"), state__in=OPEN_INTENTS)
        rows = rows.exclude(Exists(open_placement))
    owner = "attempt__job" if issubclass(kind, Placement | Stop) else "cluster"
    return rows.select_related(owner)


def renew_lease(intent: Intent) -> bool:
    """Lengthen the lease by 60 s; read before the first bind and before each chunk.

    False: do no more of it. Either the lease was lost, or the attempt is being taken back meanwhile (then a Placement must be
    undone: `unwinding(intent)` tells).
    """
    model = type(intent)
    mine = model._default_manager.filter(pk=intent.pk, state=IntentState.DOING, lease_token=intent.lease_token)
    if not mine.update(lease_until=clock.now() + LEASE):
        return False
    return not (isinstance(intent, Placement) and is_unwinding(intent))


def is_unwinding(placement: Placement) -> bool:
    """Whether what this placement created must be taken back (read anew from the database)."""
    placement.attempt.refresh_from_db(fields=["state", "cause"])
    return placement.attempt.state not in (AttemptState.CREATING, AttemptState.BINDING, AttemptState.RUNNING)


@transaction.atomic
def finish_intent(intent: Intent, state: str = IntentState.DONE) -> None:
    """Close an intent of mine as done, or undone when everything of it was taken back; then its attempt is settled.

    Raises LeaseLost when another process has it by now.
    """
    if isinstance(intent, Placement | Stop):
        lock_attempt(intent.attempt_id)  # job before intent, as a cancel locks them
    update_mine(intent, state=state, finished_at=clock.now(), lease_token=None, lease_until=None, last_error="")
    if isinstance(intent, Placement | Stop):
        settle(intent.attempt_id)


def retry_intent(intent: Intent, error: str, *, delay: dt.timedelta | None = None) -> None:
    """Give an intent back with what went wrong; due again after `delay`, by default 1 s · 2ⁿ, at most 60 s."""
    wait = delay if delay is not None else min(LAST_RETRY, FIRST_RETRY * 2 ** min(intent.tries, 10))
    update_mine(
        intent,
        state=IntentState.TODO,
        next_try=clock.now() + wait,
        last_error=error[:2000],
        lease_token=None,
        lease_until=None,
    )


def give_back_intents(intents: Sequence[Intent]) -> None:
    """Hand claims back unworked, at once due: a process that stops leaves none behind for a minute."""
    for intent in intents:
        type(intent)._default_manager.filter(pk=intent.pk, lease_token=intent.lease_token).update(
            state=IntentState.TODO, tries=F("tries") - 1, lease_token=None, lease_until=None
        )
