"""Addresses of fragmentation: the last sample, its history, and what fits at this instant."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from muster.accounts.api.base import StandingMixin
from muster.clusters.models import Cluster
from muster.clusters.queries import visible_clusters
from muster.common import clock
from muster.common.errors import NotFound
from muster.fragmentation.api import serializers
from muster.fragmentation.fitting import fits_now
from muster.fragmentation.queries import history, latest_sample


class _ClusterView(StandingMixin, APIView):
    """About one cluster, for every member."""

    def cluster(self, pk: int) -> Cluster:
        """The cluster, if the reader may see it."""
        return get_object_or_404(visible_clusters(self.standing), pk=pk)

    def asked(self, kind: Any) -> dict[str, Any]:
        """The query's parameters, checked."""
        query = kind(data=self.request.query_params)
        query.is_valid(raise_exception=True)
        return dict(query.validated_data)


class FragmentationView(_ClusterView):
    """The last sample."""

    @extend_schema(responses=serializers.MeasuredSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """How broken up the free GPUs were when they were last looked at (every 30 s)."""
        sample = latest_sample(self.cluster(pk).pk)
        if sample is None:
            raise NotFound("No sample has been taken yet.")
        return Response(serializers.MeasuredSerializer({"at": sample.at, **sample.data}).data)


class HistoryView(_ClusterView):
    """Samples over time."""

    @extend_schema(parameters=[serializers.HistoryQuery], responses=serializers.HistorySerializer)
    def get(self, request: Request, pk: int) -> Response:
        """The figures over the last hours, at most 300 points."""
        hours = self.asked(serializers.HistoryQuery)["hours"]
        points = history(self.cluster(pk).pk, hours, clock.now())
        return Response(serializers.HistorySerializer({"hours": hours, "points": points}).data)


class FitsView(_ClusterView):
    """Measured on demand."""

    @extend_schema(parameters=[serializers.FitsQuery], responses=serializers.MeasuredSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """What could start at this instant, by size and level; 503 where nobody answers within two seconds."""
        cluster, asked = self.cluster(pk), self.asked(serializers.FitsQuery)
        found = fits_now(cluster.pk, cpu=asked.get("cpu_milli"), memory=asked.get("memory_bytes"))
        return Response(serializers.MeasuredSerializer({"at": clock.now(), **found}).data)
