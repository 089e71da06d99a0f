"""What a cycle is run on: a snapshot, and of which instant it is."""

from __future__ import annotations

from dataclasses import dataclass

from muster.placements.load.kept import Kept
from scheduler.model.policy import Policy
from scheduler.model.snapshot import Snapshot


@dataclass(frozen=True)
class Loaded:
    """A cluster as it was read in one view. Revisions are by key, as read: commit compares them."""

    cluster_id: int
    cluster_name: str
    epoch: int
    seq: int
    """The last Change that is in the snapshot."""
    snapshot: Snapshot
    policy: Policy
    kept: Kept
    node_revisions: dict[int, int]
    job_revisions: dict[int, int]
    queue_revisions: dict[int, int]
