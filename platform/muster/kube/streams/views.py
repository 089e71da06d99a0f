"""`GET /api/v1/jobs/{id}/logs/`: one worker's log as text, or those of all workers as NDJSON; followed on request."""

from __future__ import annotations

import functools
from typing import Any

from django.db import connection
from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.views import APIView

from muster.accounts.standing import standing_of
from muster.common.errors import Invalid
from muster.kube.streams.follow import Following, merged_now
from muster.kube.streams.sources import Source, gateway_for, is_coming, read, sources_of
from muster.workloads.models import Job
from muster.workloads.queries import visible_job

TEXT, LINES = "text/plain; charset=utf-8", "application/x-ndjson"

PARAMETERS = [
    OpenApiParameter("worker", str, description="ROLE-INDEX, as worker-0; without it all workers, as NDJSON"),
    OpenApiParameter("follow", bool, description="go on until the log ends; wait where it has not begun"),
    OpenApiParameter("tail", int, description="begin with the last so many lines of each worker"),
    OpenApiParameter("attempt", int, description="number of the attempt; the latest without it"),
]


class _AsItIs(BaseContentNegotiation):
    """Logs have the type they have, whatever the reader accepts."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class LogView(APIView):
    """Logs of a job's workers, from their pods or, when these are gone, as they were stored."""

    content_negotiation_class = _AsItIs

    @extend_schema(parameters=PARAMETERS, responses={(200, TEXT): OpenApiTypes.STR, (200, LINES): OpenApiTypes.STR})
    def get(self, request: Request, pk: int) -> HttpResponse | StreamingHttpResponse:
        """Read or follow; a job of another tenant is not there."""
        job = visible_job(standing_of(request.user), pk)
        worker, tail = request.query_params.get("worker", ""), _number(request, "tail")
        attempt = _number(request, "attempt")
        sources = sources_of(job, worker=worker, attempt=attempt)
        gateway = gateway_for(job.cluster)
        if request.query_params.get("follow") in ("1", "true", "yes"):
            find = functools.partial(_find_made, job, worker, attempt)
            following = Following(find, gateway, tail=tail, is_merged=not worker)
            return _streamed(following, TEXT if worker else LINES)
        if worker:
            return HttpResponse(read(sources[0], gateway, tail=tail), content_type=TEXT)
        return HttpResponse(merged_now(sources, gateway, tail=tail), content_type=LINES)


def _find_made(job: Job, worker: str, attempt: int | None) -> list[Source] | None:
    """The workers; None as long as their pods are still to be made. Asked for hours, it keeps no connection meanwhile."""
    try:
        sources = sources_of(job, worker=worker, attempt=attempt)
        return None if is_coming(job, sources, attempt=attempt) else sources
    finally:
        connection.close()


def _streamed(content: Following, content_type: str) -> StreamingHttpResponse:
    # Proxies that gather an answer before they pass it on would make following pointless.
    headers = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}
    return StreamingHttpResponse(content, content_type=content_type, headers=headers)


def _number(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    if not text.isdecimal():
        raise Invalid(f"{name} must be a whole number.", fields={name: ["a whole number"]})
    return int(text)
