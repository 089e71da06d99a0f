"""`settle`: from what was seen of an attempt's pods to states, holds and intents. Safe to call any number of times."""

from __future__ import annotations


def settle(attempt_id: int) -> None:
    """Bring an attempt, its job and its holds to what its workers' observed columns say."""
    raise NotImplementedError


def settle_live(cluster_id: int) -> int:
    """Settle every attempt of the cluster that has not ended; the number of attempts looked at."""
    raise NotImplementedError
