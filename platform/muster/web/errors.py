"""Refusals and failures as pages: a sentence on what is so, and what to do next."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from muster.common.errors import MusterError

TITLES = {400: "That cannot be done", 403: "You may not see this", 404: "Not found", 409: "That cannot be done now"}


def error_page(request: HttpRequest, error: MusterError) -> HttpResponse:
    """The page for one of our own errors."""
    return _page(request, error.status, error.message)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 Django passes it
    """403."""
    return _page(request, 403, "Ask an admin of the tenant, or sign in as somebody else.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 Django passes it
    """404."""
    return _page(request, 404, "There is no such page, or it belongs to a tenant you are not in.")


def failed(request: HttpRequest) -> HttpResponse:
    """500. Rendered without the frame: what failed may be what the frame reads."""
    return render(request, "web/failed.html", status=500)


def _page(request: HttpRequest, status: int, message: str) -> HttpResponse:
    context: dict[str, Any] = {
        "title": TITLES.get(status, "Something went wrong"),
        "message": message,
        "status": status,
    }
    return render(request, "web/error.html", context, status=status)
