"""Names, labels and annotations of what we make. A name says job, attempt number, role and index; all fit into 63 characters."""

from __future__ import annotations

import re

PREFIX = "muster.scheduler/"
ATTEMPT_LABEL = f"{PREFIX}attempt"
JOB_LABEL = f"{PREFIX}job"
ROLE_LABEL = f"{PREFIX}role"
WORKER_LABEL = f"{PREFIX}worker"
TENANT_LABEL = f"{PREFIX}tenant"
DEVICES_ANNOTATION = f"{PREFIX}devices"
OBSERVED_DEVICES_ANNOTATION = f"{PREFIX}devices-observed"
TOPOLOGY_ANNOTATION = f"{PREFIX}topology"
QUEUE_ANNOTATION = f"{PREFIX}queue"

LONGEST = 63
_LONGEST_STEM = 24


def attempt_name(job_name: str, job_id: int, *, replica: int, number: int) -> str:
    """The Service's and ConfigMap's name, and the stem of the pods': unique per attempt and valid as a DNS label."""
    stem = re.sub(r"[^a-z0-9-]+", "-", job_name.lower()).strip("-")[:_LONGEST_STEM].strip("-") or "job"
    if not stem[0].isalpha():
        # A Service's name may not begin with a digit.
        stem = f"j-{stem}"
    which = f"r{replica}-{number}" if replica else str(number)
    return f"{stem}-{job_id}-{which}"


def pod_name(attempt: str, *, role: str, role_order: int, index: int) -> str:
    """A worker's pod and host name; a role whose name is too long goes by its place in the job file."""
    name = f"{attempt}-{role}-{index}"
    return name if len(name) <= LONGEST else f"{attempt}-{role_order}-{index}"
