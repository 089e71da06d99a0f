"""Words that several apps share."""

from django.db.models import TextChoices


class ChangeKind(TextChoices):
    """What a Change names: load reads that row anew, whole."""

    NODE = "node"
    QUEUE = "queue"
    JOB = "job"
    CLUSTER = "cluster"


class EventKind(TextChoices):
    """The objects that live topics carry."""

    JOB = "job"
    WORKER = "worker"
    JOB_EVENT = "job_event"
    NODE = "node"
    QUEUE = "queue"
    CLUSTER = "cluster"
    FRAGMENTATION = "fragmentation"
