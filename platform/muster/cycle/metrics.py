"""What the cycle counts and times."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10)

STAGE_SECONDS = Histogram(
    "muster_cycle_seconds", "Duration of a cycle's stages: load, plan, commit", ["cluster", "stage"], buckets=_BUCKETS
)
CYCLES = Counter("muster_cycles_total", "Cycles by what became of them", ["cluster", "outcome"])
UNITS = Counter(
    "muster_cycle_units_total", "Units of plans, committed or dropped, with the cause", ["cluster", "outcome"]
)
