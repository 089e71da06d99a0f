"""Errors of submitting."""

from muster.common.errors import Conflict, Invalid, Unavailable


class KeyReused(Conflict):
    """This Idempotency-Key was used for another job file in the last 24 hours."""

    code = "idempotency_key_reused"


class Impossible(Invalid):
    """This job can never run here."""

    code = "impossible"


class NoAnswer(Unavailable):
    """Whether this job can ever run could not be found out in time; try again, or submit without `strict`."""

    code = "no_answer"
