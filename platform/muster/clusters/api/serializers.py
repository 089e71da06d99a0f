"""Clusters and hardware as JSON: what every member may see."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from muster.clusters.models import Cluster, ClusterStatus, Flavor, Gpu, Node
from muster.common.api.serializers import RowSerializer

VERBS = ["cordon", "uncordon"]


class ClusterStatusSerializer(serializers.ModelSerializer[ClusterStatus]):
    """What was last seen of a cluster."""

    class Meta:
        model = ClusterStatus
        fields = ("is_reachable", "since", "message", "version", "seen_at", "drift")


class LevelSerializer(serializers.Serializer[Any]):
    """A network level."""

    name = serializers.CharField()
    label = serializers.CharField(help_text="the node label that names a node's domain")  # type: ignore[assignment]


class ClusterSerializer(RowSerializer[Cluster]):
    """A cluster; how it is reached is nobody's business here."""

    levels = LevelSerializer(many=True, read_only=True)
    status = serializers.SerializerMethodField()

    class Meta:
        model = Cluster
        fields = ("id", "name", "title", "levels", "enabled", "status")

    @extend_schema_field(ClusterStatusSerializer(allow_null=True))
    def get_status(self, cluster: Cluster) -> dict[str, Any] | None:
        """None while nobody has tried to reach it."""
        status = getattr(cluster, "status", None)
        return dict(ClusterStatusSerializer(status).data) if status else None


class GpuSerializer(serializers.ModelSerializer[Gpu]):
    """One GPU of a node."""

    flavor = serializers.CharField(source="flavor.name", default=None, allow_null=True)

    class Meta:
        model = Gpu
        fields = ("index", "uuid", "flavor", "numa", "switch", "health", "health_reason")


class NodeSerializer(RowSerializer[Node]):
    """A node with its GPUs."""

    cluster = serializers.CharField(source="cluster.name", read_only=True)
    pool = serializers.CharField(source="pool.name", default=None, allow_null=True, read_only=True)
    shape = serializers.CharField(source="shape.name", default=None, allow_null=True, read_only=True)
    labels = serializers.DictField(child=serializers.CharField(), read_only=True)
    taints = serializers.ListField(child=serializers.DictField(), read_only=True)
    domains = serializers.SerializerMethodField()
    gpus = GpuSerializer(many=True, read_only=True)
    capabilities = serializers.SerializerMethodField()

    class Meta:
        model = Node
        fields = (
            "id",
            "name",
            "cluster",
            "pool",
            "shape",
            "ready",
            "cordoned",
            "labels",
            "taints",
            "domains",
            "nvlink_domain",
            "cpu_milli",
            "memory_bytes",
            "gpus",
            "capabilities",
        )

    @extend_schema_field(serializers.DictField(child=serializers.CharField()))
    def get_domains(self, node: Node) -> dict[str, str]:
        """Where it lies, outermost level first: the database keeps no order of keys."""
        levels = [level["name"] for level in node.cluster.levels]
        return {level: node.domains[level] for level in levels if level in node.domains}

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(choices=VERBS)))
    def get_capabilities(self, node: Node) -> list[str]:
        """Orders to nodes are for platform admins."""
        if not self.reader.is_platform_admin:
            return []
        return ["uncordon"] if node.cordoned else ["cordon"]


class FlavorSerializer(RowSerializer[Flavor]):
    """A GPU model with what it can do."""

    class Meta:
        model = Flavor
        fields = (
            "id",
            "name",
            "vendor",
            "memory_bytes",
            "memory_bandwidth_gbs",
            "compute_capability",
            "tensor_cores",
            "precisions",
            "price_per_hour",
        )
