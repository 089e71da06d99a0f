"""Addresses of jobs and queues. What touches devices or intents (cancel, workers, verdict) is in placements.api."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from muster.accounts.api.base import MemberView
from muster.common.api.parsers import YamlParser
from muster.common.errors import Invalid
from muster.quotas.models import Queue
from muster.quotas.queries import visible_queues
from muster.workloads import actions, judging
from muster.workloads.api import filters, serializers
from muster.workloads.drafts import draft_job
from muster.workloads.models import Job
from muster.workloads.queries import QueueTotals, job_events, queue_totals, visible_job, visible_jobs, with_readiness
from muster.workloads.spec import SCHEMA

JOB_FILE = {key: value for key, value in SCHEMA.items() if key != "$defs"}
STRICT = OpenApiParameter("strict", bool, description="refuse a job that can never run, instead of warning")
DRY_RUN = OpenApiParameter("dry_run", bool, description="check and answer, create nothing")
KEY = OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, description="within 24 hours, once")


class JobView(MemberView):
    """The jobs of the reader's tenants."""

    queryset = Job.objects.none()
    serializer_class = serializers.JobDetailSerializer
    filterset_class = filters.JobFilters
    search = ("name", "queue__name", "owner__username", "tenant__name")
    orders = {
        "name": "name",
        "state": "state",
        "priority": "priority",
        "queue": "queue__name",
        "owner": "owner__username",
        "gpus": "gpus_wanted",
        "workers": "workers_wanted",
        "submitted_at": "submitted_at",
        "started_at": "started_at",
        "ended_at": "ended_at",
    }

    def get_queryset(self) -> QuerySet[Job]:
        return with_readiness(visible_jobs(self.standing))

    def get_serializer_class(self) -> type[serializers.JobSerializer]:
        return serializers.JobSerializer if self.action == "list" else serializers.JobDetailSerializer

    def get_parsers(self) -> list[Any]:
        """A job may come as a file."""
        return [JSONParser(), YamlParser()]

    @extend_schema(
        parameters=[STRICT, DRY_RUN, KEY],
        request={"application/json": JOB_FILE, "application/yaml": {"type": "string"}},
        responses={201: serializers.JobDetailSerializer, 200: serializers.DraftSerializer},
    )
    def create(self, request: Request) -> Response:
        """Submit a job file, as JSON or as YAML."""
        document = request.data
        if not isinstance(document, str | dict):
            raise Invalid("A job file is a mapping of keys to values.")
        strict = _is_set(request, "strict")
        if _is_set(request, "dry_run"):
            return Response(self._tried(document, strict=strict))
        key, judge = request.headers.get("Idempotency-Key", ""), judging.warn_or_refuse(strict=strict)
        job = actions.submit_job(request.user, document, idempotency_key=key, judge=judge)
        return self._shown(job.pk, status.HTTP_201_CREATED)

    def _tried(self, document: str | dict[str, Any], *, strict: bool) -> dict[str, Any]:
        draft = draft_job(self.standing, document)
        finding = judging.ask(draft)
        warning = judging.objection(finding, strict=strict)
        found = {"spec": draft.spec, "gpus_wanted": draft.gpus_wanted, "warnings": [warning] if warning else []}
        return dict(serializers.DraftSerializer(found | {"preview": finding}).data)

    @extend_schema(request=None, responses=serializers.JobDetailSerializer)
    @action(detail=True, methods=["post"])
    def hold(self, request: Request, pk: str) -> Response:
        """Keep a queued job from starting."""
        return self._changed(int(pk), partial(actions.hold_job, request.user, int(pk)))

    @extend_schema(request=None, responses=serializers.JobDetailSerializer)
    @action(detail=True, methods=["post"])
    def release(self, request: Request, pk: str) -> Response:
        """Let a held job start."""
        return self._changed(int(pk), partial(actions.release_job, request.user, int(pk)))

    @extend_schema(request=serializers.PrioritySerializer, responses=serializers.JobDetailSerializer)
    @action(detail=True, methods=["post"])
    def priority(self, request: Request, pk: str) -> Response:
        """Give a job another priority."""
        asked = serializers.PrioritySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        priority = asked.validated_data["priority"]
        return self._changed(int(pk), partial(actions.set_priority, request.user, int(pk), priority))

    @extend_schema(responses=serializers.JobEventSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None)
    def events(self, request: Request, pk: str) -> Response:
        """The job's story, oldest first."""
        events = job_events(self.get_object())[:1000]
        return Response(serializers.JobEventSerializer(events, many=True).data)

    def _changed(self, job_id: int, change: Callable[[], Job]) -> Response:
        """Change a job, if it is still the version that the request names; nobody comes between the look and the change."""
        with transaction.atomic():
            actions.lock_jobs(self.standing, [job_id])
            self.must_match(visible_job(self.standing, job_id))
            change()
        return self._shown(job_id)

    def _shown(self, job_id: int, status_code: int = status.HTTP_200_OK) -> Response:
        job = visible_job(self.standing, job_id)
        return Response(self.get_serializer(job).data, status=status_code, headers={"ETag": self.etag(job)})


class QueueView(MemberView):
    """Every queue with its quotas and totals."""

    queryset = Queue.objects.none()
    serializer_class = serializers.QueueSerializer
    filterset_class = filters.QueueFilters
    search = ("name", "tenant__name")
    orders = {
        "name": "name",
        "tenant": "tenant__name",
        "priority": "priority",
    }

    def get_queryset(self) -> QuerySet[Queue]:
        queues = visible_queues(self.standing).select_related("tenant", "parent")
        return queues.prefetch_related("quotas__cluster").order_by("pk")

    def get_serializer_context(self) -> dict[str, Any]:
        return super().get_serializer_context() | {"totals": self.totals}

    @cached_property
    def totals(self) -> dict[int, QueueTotals]:
        """Read once per request: a parent's need its children's."""
        return queue_totals() if getattr(self, "request", None) else {}


class JobSchemaView(APIView):
    """The schema of the job file."""

    @extend_schema(responses={200: OpenApiTypes.OBJECT})
    def get(self, request: Request) -> Response:
        """The JSON Schema that job files are checked against, for editors."""
        return Response(SCHEMA)


def _is_set(request: Request, name: str) -> bool:
    return request.query_params.get(name, "") in ("1", "true", "yes")
