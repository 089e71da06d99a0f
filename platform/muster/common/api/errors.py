"""One shape for every error: `{code, message, fields}`, and `details` where an error has more to tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import exception_handler, set_rollback

from muster.common.errors import Forbidden, MusterError, NotFound

CODES = {
    status.HTTP_400_BAD_REQUEST: "invalid",
    status.HTTP_401_UNAUTHORIZED: "not_signed_in",
    status.HTTP_403_FORBIDDEN: "forbidden",
    status.HTTP_404_NOT_FOUND: "not_found",
    status.HTTP_405_METHOD_NOT_ALLOWED: "method_not_allowed",
    status.HTTP_406_NOT_ACCEPTABLE: "not_acceptable",
    status.HTTP_415_UNSUPPORTED_MEDIA_TYPE: "unsupported_media_type",
    status.HTTP_429_TOO_MANY_REQUESTS: "too_many_requests",
}


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler."""
    if isinstance(error, Http404):
        error = NotFound()
    elif isinstance(error, PermissionDenied):
        error = Forbidden()
    if isinstance(error, MusterError):
        set_rollback()
        return Response(body_of(error), status=error.status)
    response = exception_handler(error, context)
    if response is not None and isinstance(error, exceptions.APIException):
        response.data = _from_rest(error, response.status_code)
    return response


def body_of(error: MusterError) -> dict[str, Any]:
    """The answer's body for one of our own errors."""
    body = {"code": error.code, "message": error.message, "fields": error.fields}
    return body | ({"details": error.details} if error.details else {})


def _from_rest(error: exceptions.APIException, status_code: int) -> dict[str, Any]:
    code = CODES.get(status_code, "error")
    if not isinstance(error, exceptions.ValidationError):
        return {"code": code, "message": str(error.detail), "fields": {}}
    fields: dict[str, list[str]] = {}
    for name, text in _flat(error.detail, ""):
        fields.setdefault(name, []).append(text)
    sentences = [f"{name}: {text}" if name else text for name, texts in fields.items() for text in texts]
    return {"code": code, "message": "; ".join(sentences), "fields": fields}


def _flat(detail: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(detail, Mapping):
        for name, below in detail.items():
            own = "" if name == "non_field_errors" else str(name)
            yield from _flat(below, ".".join(filter(None, [path, own])))
    elif isinstance(detail, list):
        for number, below in enumerate(detail):
            yield from _flat(below, path if isinstance(below, str) else f"{path}[{number}]")
    else:
        yield path, str(detail)
