"""Every write to intents and device holds outside the cycle's commit, one verb each.

The executor claims and reports (`intents`, `progress`), the informer observes (`observing`), people and clocks stop (`stopping`),
and `settle` draws the conclusions.
"""

from muster.placements.actions.ending import forget_avoided, grace_of
from muster.placements.actions.intents import (
    claim_intents,
    finish_intent,
    give_back_intents,
    is_unwinding,
    renew_lease,
    retry_intent,
)
from muster.placements.actions.leases import LeaseLost
from muster.placements.actions.observing import attempts_without_pods, live_attempt_ids, observe_workers, record_orphans
from muster.placements.actions.progress import record_bound, record_created, refuse_placement, store_log
from muster.placements.actions.seen import OrphanSeen, PodMade, WorkerSeen
from muster.placements.actions.settling import settle, settle_live
from muster.placements.actions.stopping import (
    cancel_job,
    cancel_jobs,
    expire_starts,
    expire_walltimes,
    fault_attempt,
    fault_nodes,
    order_node,
)

__all__ = [
    "LeaseLost",
    "OrphanSeen",
    "PodMade",
    "WorkerSeen",
    "attempts_without_pods",
    "cancel_job",
    "cancel_jobs",
    "claim_intents",
    "expire_starts",
    "expire_walltimes",
    "fault_attempt",
    "fault_nodes",
    "finish_intent",
    "forget_avoided",
    "give_back_intents",
    "grace_of",
    "is_unwinding",
    "live_attempt_ids",
    "observe_workers",
    "order_node",
    "record_bound",
    "record_created",
    "record_orphans",
    "refuse_placement",
    "renew_lease",
    "retry_intent",
    "settle",
    "settle_live",
    "store_log",
]
