"""Verbs that end attempts: cancel, fault, walltime, the start clock; and orders to nodes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from muster.clusters.models import Node
from muster.placements.models import NodeOrder
from muster.workloads.models import Job


def cancel_job(job: Job, actor: Any) -> Job:
    """End a job for good: at once when it waits, else through a Stop with its checkpoint's grace (30 s without one)."""
    raise NotImplementedError


def fault_attempt(attempt_id: int, message: str, *, node_id: int | None = None) -> None:
    """A fault of the cluster ends this attempt whole; its job is queued again, no retry counted, `node_id` avoided 15 min."""
    raise NotImplementedError


def fault_nodes(cluster_id: int, node_ids: Sequence[int], message: str) -> set[int]:
    """`fault_attempt` for every live attempt with a worker not gone on these nodes (lost, not ready); their pks."""
    raise NotImplementedError


def expire_walltimes(now: dt.datetime) -> int:
    """Stop every running job past its walltime; how many."""
    raise NotImplementedError


def expire_starts(now: dt.datetime) -> int:
    """Take back every attempt bound 15 minutes ago of which some member does not run; how many."""
    raise NotImplementedError


def order_node(node: Node, verb: str, actor: Any) -> NodeOrder:
    """Order a node cordoned or uncordoned; `Node.cordoned` follows once the informer has seen it."""
    raise NotImplementedError
