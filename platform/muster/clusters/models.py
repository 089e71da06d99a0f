"""Clusters and their hardware.

Writers: `Cluster` settings by clusters.actions, `Cluster.epoch` by the cycle's commit alone; `ClusterStatus`, and every column of
`Node`, `Gpu` and `Nic` by the informer (through clusters.observe), except that `sched_rev` of a Node is also raised by whoever
writes a DeviceHold on it.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from muster.accounts.models import dns_label
from muster.clusters.choices import Binding, Connection, Health
from muster.common.models import BaseModel


def default_levels() -> list[dict[str, str]]:
    """Network levels, outermost first, with the node label that names a node's domain. `host` is always the innermost."""
    return [
        {"name": "block", "label": "topology.muster.dev/block"},
        {"name": "rack", "label": "topology.muster.dev/rack"},
    ]


class Cluster(BaseModel):
    """A Kubernetes cluster. `epoch` fences commits: it is raised by each, and a plan made at an older one is thrown away."""

    name = models.CharField(max_length=42, unique=True, validators=[dns_label])
    title = models.CharField(max_length=120, blank=True)
    connection = models.CharField(max_length=10, choices=Connection.choices, default=Connection.FILE)
    kubeconfig_path = models.CharField(max_length=400, blank=True)
    kubeconfig_sealed = models.BinaryField(null=True, blank=True, editable=False, help_text="encrypted; never returned")
    levels = models.JSONField(default=default_levels, blank=True, help_text="clusters.levels checks them")
    nvlink_label = models.CharField(
        max_length=317,
        blank=True,
        help_text="names a node's multi-node NVLink domain; empty: the known labels are tried",
    )
    profile = models.JSONField(
        default=dict, blank=True, help_text="plugins per extension point; empty: the default profile"
    )
    scheduler_name = models.CharField(max_length=63, default="muster")
    enabled = models.BooleanField(default=True)
    epoch = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name


class ClusterStatus(models.Model):
    """What the informer last saw of a cluster; a row of its own so that heartbeats never meet commits."""

    cluster = models.OneToOneField(Cluster, primary_key=True, on_delete=models.CASCADE, related_name="status")
    is_reachable = models.BooleanField(null=True, help_text="null: not tried yet")
    since = models.DateTimeField(null=True, help_text="since when it is as it is")
    message = models.TextField(blank=True, help_text="the client's words when it is not reachable")
    version = models.CharField(max_length=40, blank=True)
    seen_at = models.DateTimeField(null=True)
    drift = models.IntegerField(default=0)
    repairs = models.BigIntegerField(default=0)


class NodePool(BaseModel):
    """Nodes of a cluster that are treated alike. A node belongs to the first pool, by order, whose selector it matches."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="pools")
    name = models.CharField(max_length=42, validators=[dns_label])
    order = models.PositiveSmallIntegerField(default=0)
    selector = models.JSONField(default=dict, blank=True, help_text="labels a node must carry; empty matches all")
    binding = models.CharField(max_length=5, choices=Binding.choices, default=Binding.COUNT)
    sharing = models.CharField(
        max_length=16, blank=True, help_text="how parts of a GPU are given: hami, mps, mig, time-slicing"
    )
    topology = models.TextField(
        blank=True,
        help_text="`nvidia-smi topo -m` of one of its nodes: tells the wiring where the nodes themselves do not",
    )

    class Meta:
        ordering = ["order", "id"]
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="pool_name_unique")]

    def __str__(self) -> str:
        return self.name


class Flavor(BaseModel):
    """A GPU model with what it can do."""

    name = models.CharField(max_length=63, unique=True)
    vendor = models.CharField(max_length=32, default="nvidia")
    memory_bytes = models.BigIntegerField()
    memory_bandwidth_gbs = models.PositiveIntegerField(null=True, blank=True, help_text="GB/s")
    compute_capability = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="times ten: 90 is 9.0; empty: no CUDA"
    )
    tensor_cores = models.PositiveSmallIntegerField(null=True, blank=True, help_text="generation")
    precisions = ArrayField(models.CharField(max_length=8), default=list, blank=True)
    resource = models.CharField(
        max_length=63, default="nvidia.com/gpu", help_text="the extended resource that counts it"
    )
    price_per_hour = models.DecimalField(max_digits=8, decimal_places=4, null=True, blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name


class HardwareShape(BaseModel):
    """A node's hardware layout; nodes wired alike share one. `wiring` is what scheduler.model builds its shape from."""

    digest = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=80)
    source = models.CharField(max_length=16, help_text="the evidence: dra, annotation, labels, pasted")
    wiring = models.JSONField()

    def __str__(self) -> str:
        return self.name


class Node(BaseModel):
    """A machine. Every column is observed; a node that left the cluster keeps its row with `present` false."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="nodes")
    pool = models.ForeignKey(NodePool, null=True, on_delete=models.SET_NULL, related_name="nodes")
    shape = models.ForeignKey(HardwareShape, null=True, on_delete=models.PROTECT, related_name="nodes")
    name = models.CharField(max_length=253)
    uid = models.CharField(max_length=64, blank=True)
    present = models.BooleanField(default=True)
    ready = models.BooleanField(default=False)
    cordoned = models.BooleanField(default=False)
    labels = models.JSONField(default=dict)
    taints = models.JSONField(default=list)
    domains = models.JSONField(default=dict, help_text="level name to domain name")
    nvlink_domain = models.CharField(max_length=120, blank=True)
    cpu_milli = models.BigIntegerField(default=0, help_text="allocatable, thousandths of a core")
    memory_bytes = models.BigIntegerField(default=0, help_text="allocatable")
    pods = models.PositiveIntegerField(default=110, help_text="allocatable")
    others_cpu_milli = models.BigIntegerField(default=0, help_text="asked for by pods that are not ours")
    others_memory_bytes = models.BigIntegerField(default=0)
    others_pods = models.PositiveIntegerField(default=0)
    conditions = models.JSONField(default=list)
    sched_rev = models.BigIntegerField(default=1)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="node_name_unique")]

    def __str__(self) -> str:
        return self.name


class Gpu(models.Model):
    """One GPU of a node, at the index nvidia-smi gives it."""

    id = models.BigAutoField(primary_key=True)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="gpus")
    index = models.PositiveSmallIntegerField()
    uuid = models.CharField(max_length=80, blank=True)
    flavor = models.ForeignKey(Flavor, null=True, on_delete=models.PROTECT, related_name="+")
    numa = models.SmallIntegerField(null=True)
    switch = models.SmallIntegerField(null=True)
    health = models.CharField(max_length=9, choices=Health.choices, default=Health.OK)
    health_reason = models.CharField(max_length=120, blank=True)
    others_pod = models.CharField(
        max_length=320, blank=True, help_text="namespace/name of a pod that is not ours and holds it"
    )

    class Meta:
        ordering = ["node_id", "index"]
        constraints = [models.UniqueConstraint(fields=["node", "index"], name="gpu_index_unique")]

    def __str__(self) -> str:
        return f"{self.node_id}:{self.index}"


class Nic(models.Model):
    """One network card of a node."""

    id = models.BigAutoField(primary_key=True)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="nics")
    index = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=40)
    numa = models.SmallIntegerField(null=True)
    switch = models.SmallIntegerField(null=True)
    is_rdma = models.BooleanField(default=False)
    health = models.CharField(max_length=9, choices=Health.choices, default=Health.OK)

    class Meta:
        ordering = ["node_id", "index"]
        constraints = [models.UniqueConstraint(fields=["node", "index"], name="nic_index_unique")]
