"""One cycle of one cluster."""

from __future__ import annotations

import time

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
        start = time.perf_counter()
        loaded = load(cluster_id, numbering=True)
        _observe(loaded, "load", start)
        outcome = _plan_and_commit(loaded)
    if outcome.was_thrown_away or has_unnumbered(cluster_id):
        bells.ring_cycle(cluster_id)
    return outcome


def _plan_and_commit(loaded: Loaded) -> Outcome:
    now, start = clock.now(), time.perf_counter()
    policy = with_mix(loaded.policy, loaded.cluster_id)
    decided = plan(loaded.snapshot, policy, now.timestamp(), default_rng(loaded.epoch))
    _observe(loaded, "plan", start)
    start = time.perf_counter()
    outcome = commit(loaded, decided, now)
    _observe(loaded, "commit", start)
    if outcome.committed or outcome.dropped or outcome.was_thrown_away:
        log.info("cycle", cluster=loaded.cluster_name, committed=outcome.committed, dropped=outcome.dropped)
    return outcome


def _observe(loaded: Loaded, stage: str, start: float) -> None:
    metrics.STAGE_SECONDS.labels(loaded.cluster_name, stage).observe(time.perf_counter() - start)
