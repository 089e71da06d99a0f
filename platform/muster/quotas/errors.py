"""Errors of queues and quotas."""

from muster.common.errors import Conflict, Forbidden, Invalid


class QuotaInvalid(Invalid):
    """The quotas do not add up."""

    code = "invalid_quota"


class QueueInUse(Conflict):
    """The queue still has jobs."""

    code = "queue_in_use"


class NotTheirAdmin(Forbidden):
    """Only an admin of the tenant may change its queues."""
