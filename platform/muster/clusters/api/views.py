"""Addresses of clusters and hardware."""

from __future__ import annotations

from django.db.models import Prefetch, QuerySet

from muster.accounts.api.base import MemberView
from muster.clusters.api import filters, serializers
from muster.clusters.models import Cluster, Flavor, Gpu, Node
from muster.clusters.queries import visible_clusters, visible_flavors, visible_nodes


class ClusterView(MemberView):
    """The clusters, with whether they can be reached."""

    queryset = Cluster.objects.none()
    serializer_class = serializers.ClusterSerializer
    filterset_class = filters.ClusterFilters
    search = ("name", "title")
    orders = {"name": "name"}

    def get_queryset(self) -> QuerySet[Cluster]:
        return visible_clusters(self.standing)


class NodeView(MemberView):
    """The nodes with their GPUs."""

    queryset = Node.objects.none()
    serializer_class = serializers.NodeSerializer
    filterset_class = filters.NodeFilters
    search = ("name", "shape__name")
    orders = {"name": "name", "cluster": "cluster__name", "ready": "ready", "memory_bytes": "memory_bytes"}

    def get_queryset(self) -> QuerySet[Node]:
        gpus = Gpu.objects.select_related("flavor").order_by("index")
        return visible_nodes(self.standing).prefetch_related(Prefetch("gpus", gpus)).order_by("pk")


class FlavorView(MemberView):
    """The GPU models that jobs may ask for."""

    queryset = Flavor.objects.none()
    serializer_class = serializers.FlavorSerializer
    filterset_class = filters.FlavorFilters
    search = ("name",)
    orders = {"name": "name", "memory_bytes": "memory_bytes"}

    def get_queryset(self) -> QuerySet[Flavor]:
        return visible_flavors(self.standing)
