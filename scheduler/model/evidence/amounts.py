"""Reads amounts as Kubernetes and vendors write them."""

from __future__ import annotations

import re
from decimal import Decimal

from scheduler.model.evidence.found import EvidenceError

_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGTP]?i?)B?")
_FACTOR = {
    "": 1,
    **{unit: 1000**power for power, unit in enumerate("KMGTP", start=1)},
    **{f"{unit}i": 1024**power for power, unit in enumerate("KMGTP", start=1)},
}


def byte_count(text: str) -> int:
    """``80Gi``, ``4864Mi``, ``192G``, ``85899345920`` in bytes."""
    found = _QUANTITY.fullmatch(text.strip())
    if found is None:
        raise EvidenceError(f"not an amount of memory: {text!r}")
    return int(Decimal(found[1]) * _FACTOR[found[2]])


def tenths(version: str) -> int:
    """A compute capability such as ``9.0`` or ``8.6.0`` in tenths."""
    parts = version.strip().split(".")
    if not all(part.isdigit() for part in parts):
        raise EvidenceError(f"not a compute capability: {version!r}")
    return int(parts[0]) * 10 + (int(parts[1]) if len(parts) > 1 else 0)
