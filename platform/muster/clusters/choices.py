"""Words of the hardware."""

from django.db.models import TextChoices


class Binding(TextChoices):
    """Who chooses the devices of a pod on a pool's nodes."""

    EXACT = "exact", "the scheduler, exactly"
    COUNT = "count", "the kubelet, by count"


class Health(TextChoices):
    """What is known of a device; only `ok` is given out."""

    OK = "ok", "Healthy"
    UNHEALTHY = "unhealthy", "Unhealthy"
    DIRTY = "dirty", "Dirty: memory in use without a pod"
    UNKNOWN = "unknown", "Unknown"


class Connection(TextChoices):
    """How the platform finds a cluster's API server."""

    FILE = "file", "kubeconfig file"
    INLINE = "inline", "stored kubeconfig, encrypted"
    IN_CLUSTER = "in_cluster", "the cluster the platform runs in"
