"""What load counts."""

from __future__ import annotations

from prometheus_client import Counter

REBUILDS = Counter("muster_load_rebuilds_total", "Snapshots built from nothing", ["cluster"])
LOAD_DIFFERENCES = Counter(
    "muster_load_differences_total",
    "Tables in which a followed snapshot differed from one built anew",
    ["cluster", "table"],
)
