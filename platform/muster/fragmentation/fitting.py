"""What fits at this instant?

Only `preview` has a snapshot to ask, and it lies above this app: it registers its answer here when Django starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from muster.common.errors import Unavailable

Ask = Callable[[int, int | None, int | None], dict[str, Any] | None]
_registered: list[Ask] = []


def register(ask: Ask) -> None:
    """From now on `ask(cluster, millicores per GPU, bytes per GPU)` answers: within 2 s, None where it cannot."""
    _registered[:] = [ask]


def fits_now(cluster_id: int, *, cpu: int | None = None, memory: int | None = None) -> dict[str, Any]:
    """As a sample's data, measured now; Unavailable where nobody answers in time."""
    found = _registered[0](cluster_id, cpu, memory) if _registered else None
    if found is None:
        raise Unavailable("What fits now is not known: the preview process does not answer.")
    return found
