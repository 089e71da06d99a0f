"""One cycle of one cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from numpy.random import default_rng

from muster.common import bells, clock
from muster.cycle import metrics
from muster.cycle.commit import Outcome, commit
from muster.cycle.locks import cluster_lock
from muster.fragmentation.mixes import with_mix
from muster.placements.load import Loaded, load
from muster.placements.load.changes import has_unnumbered
from scheduler.cycle import plan

log = structlog.get_logger(__name__)


def run(cluster_id: int) -> Outcome | None:
    """Load, plan, commit; None when another cycle of this cluster is under way.

    1. Take the cluster's lock, or leave: who has it will look for changes once more before he lets go.
    2. Load the rows as they are now.
    3. Plan, holding no transaction of data.
    4. Commit, fenced by the epoch.
    5. Let go, and ring again if anything changed meanwhile.
    """
    with cluster_lock(cluster_id) as is_mine:
        if not is_mine:
            return None
        with _timed(cluster_id, "load"):
            loaded = load(cluster_id, numbering=True)
        outcome = _plan_and_commit(loaded)
    if outcome.was_thrown_away or has_unnumbered(cluster_id):
        bells.ring_cycle(cluster_id)
    return outcome


def _plan_and_commit(loaded: Loaded) -> Outcome:
    now = clock.now()
    with _timed(loaded.cluster_id, "plan"):
        policy = with_mix(loaded.policy, loaded.cluster_id)
        decided = plan(loaded.snapshot, policy, now.timestamp(), default_rng(loaded.epoch))
    with _timed(loaded.cluster_id, "commit"):
        outcome = commit(loaded, decided, now)
    if outcome.committed or outcome.dropped or outcome.was_thrown_away:
        log.info("cycle", cluster=loaded.cluster_id, committed=outcome.committed, dropped=outcome.dropped)
    return outcome


@contextmanager
def _timed(cluster_id: int, stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    metrics.STAGE_SECONDS.labels(cluster_id, stage).observe(time.perf_counter() - start)
