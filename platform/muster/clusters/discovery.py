"""How a cluster's nodes are read: what an administrator decided about levels, NVLink domains and wiring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from muster.clusters.levels import Level
from muster.clusters.models import Cluster, NodePool
from muster.common.errors import Invalid
from scheduler.model.evidence.found import EvidenceError
from scheduler.model.evidence.topo_matrix import from_topo

LONGEST = 100_000


class BadTopology(Invalid):
    """The pasted text is not the output of `nvidia-smi topo -m`."""

    code = "bad_topology"


@dataclass(frozen=True)
class Reading:
    """The settings that reading a node needs."""

    levels: tuple[Level, ...] = ()
    nvlink_label: str = ""
    pools: tuple[tuple[Mapping[str, str], str], ...] = ()
    """(selector, pasted topology) of every pool, in their order."""

    def pasted_for(self, labels: Mapping[str, str]) -> str:
        """The text pasted for the pool that a node with these labels belongs to; empty where there is none."""
        return next((text for selector, text in self.pools if selector.items() <= labels.items()), "")


def reading_of(cluster: Cluster) -> Reading:
    """The settings as the rows say now."""
    pools = NodePool.objects.filter(cluster=cluster).values_list("selector", "topology")
    return Reading(tuple(cluster.levels), cluster.nvlink_label, tuple(pools))


def checked_topology(text: str) -> str:
    """`text` if it can be read; raises BadTopology, which names the line."""
    try:
        if len(text) > LONGEST:
            raise EvidenceError("no machine has so long a matrix")
        from_topo(text)
    except EvidenceError as error:
        message = f"{str(error)[:1].upper()}{str(error)[1:]}."
        raise BadTopology(message, fields={"topology": [message]}) from None
    return text
