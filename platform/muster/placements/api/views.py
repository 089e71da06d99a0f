"""Addresses of cancelling, workers, verdicts and orders to nodes."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from muster.accounts.api.base import StandingMixin
from muster.clusters.actions import must_administer
from muster.clusters.queries import visible_nodes
from muster.common.errors import Invalid
from muster.placements import actions
from muster.placements.api import serializers
from muster.placements.choices import NodeVerb
from muster.placements.models import JobVerdict
from muster.placements.queries import position_of, standing_verdict, workers_of
from muster.workloads import actions as job_actions
from muster.workloads.api.serializers import JobDetailSerializer, JobSerializer, PrioritySerializer
from muster.workloads.queries import visible_job, visible_jobs, with_readiness

ATTEMPT = OpenApiParameter("attempt", int, description="the number of an earlier attempt")


class CancelView(StandingMixin, APIView):
    """End a job."""

    @extend_schema(request=None, responses=JobDetailSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """End a job for good: its processes get SIGTERM and their grace."""
        actions.cancel_jobs(request.user, [pk])
        job = visible_job(self.standing, pk)
        return Response(JobDetailSerializer(job, context={"standing": self.standing}).data)


class BulkView(StandingMixin, APIView):
    """Many jobs at once."""

    @extend_schema(request=serializers.BulkSerializer, responses=JobSerializer(many=True))
    def post(self, request: Request) -> Response:
        """Do one verb to all of these jobs, or to none of them."""
        asked = serializers.BulkSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        self._do(request.user, asked.validated_data)
        jobs = with_readiness(visible_jobs(self.standing)).filter(pk__in=asked.validated_data["ids"])
        return Response(JobSerializer(jobs, many=True, context={"standing": self.standing}).data)

    def _do(self, user: Any, asked: dict[str, Any]) -> None:
        verb, ids = asked["verb"], asked["ids"]
        if verb == "cancel":
            actions.cancel_jobs(user, ids)
        elif verb == "hold":
            job_actions.hold_jobs(user, ids)
        elif verb == "release":
            job_actions.release_jobs(user, ids)
        else:
            priority = PrioritySerializer(data=asked)
            priority.is_valid(raise_exception=True)
            job_actions.set_priorities(user, ids, priority.validated_data["priority"])


class WorkersView(StandingMixin, APIView):
    """Where a job runs."""

    @extend_schema(parameters=[ATTEMPT], responses=serializers.WorkerSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        """The workers of its latest attempt, or of the one named, in rank order."""
        asked = request.query_params.get("attempt")
        if asked is not None and not (asked.isdecimal() and len(asked) < 9):
            raise Invalid("`attempt` is a number.", fields={"attempt": ["A number, from 1."]})
        workers = workers_of(visible_job(self.standing, pk), int(asked) if asked else None)
        return Response(serializers.WorkerSerializer(workers, many=True).data)


class VerdictView(StandingMixin, APIView):
    """Why a job waits."""

    @extend_schema(responses=serializers.VerdictSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """The reason with its funnel, and the place in the queue."""
        job = visible_job(self.standing, pk)
        body = _verdict(standing_verdict(job)) | {"position": position_of(job)}
        return Response(serializers.VerdictSerializer(body).data)


def _verdict(standing: JobVerdict | None) -> dict[str, Any]:
    if standing is None:
        return {"reason": None, "message": "", "facts": {}, "funnel": [], "helps": [], "since": None, "starts_at": None}
    verdict = standing.verdict
    return {
        "reason": verdict.reason,
        "message": verdict.message,
        "facts": verdict.fields,
        "funnel": verdict.funnel,
        "helps": verdict.helps,
        "since": standing.since,
        "starts_at": standing.starts_at,
    }


class NodeOrderView(StandingMixin, APIView):
    """Take a node out of use, or give it back."""

    verb = NodeVerb.CORDON

    @extend_schema(request=None, responses={202: serializers.NodeOrderSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Order it; for platform admins."""
        node = get_object_or_404(visible_nodes(self.standing), pk=pk)
        must_administer(request.user)
        with transaction.atomic():
            order = actions.order_node(node, self.verb, request.user)
        return Response(serializers.NodeOrderSerializer(order).data, status=status.HTTP_202_ACCEPTED)
