"""What the frame around every page shows."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from muster.web.access import frame_of
from muster.workloads.choices import FINAL_JOB_STATES
from muster.workloads.queries import visible_jobs

COUNTED = 999


def frame(request: HttpRequest) -> dict[str, Any]:
    """Clusters, the chosen one, and the number of unfinished jobs beside their link. Nothing before signing in."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated or request.path.startswith("/admin/"):
        return {}
    found = frame_of(request)
    unfinished = visible_jobs(found.standing).exclude(state__in=FINAL_JOB_STATES)
    count = unfinished.order_by()[: COUNTED + 1].count()
    return {
        "standing": found.standing,
        "clusters": found.clusters,
        "cluster": found.cluster,
        "rail": {"jobs": f"{COUNTED}+" if count > COUNTED else count or ""},
    }
