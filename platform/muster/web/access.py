"""Who is looking at which cluster: every page and verb starts here, and every refusal becomes a page or a message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from muster.accounts.standing import Standing, standing_of
from muster.clusters.models import Cluster
from muster.clusters.queries import visible_clusters
from muster.common.errors import MusterError
from muster.web.errors import error_page

View = Callable[..., HttpResponse]
CHOSEN = "cluster"


@dataclass(frozen=True)
class Frame:
    """What surrounds every page: the person's rights, the clusters, and the one being looked at."""

    standing: Standing
    clusters: list[Cluster] = field(default_factory=list)
    cluster: Cluster | None = None


def frame_of(request: HttpRequest) -> Frame:
    """Read once per request."""
    found = getattr(request, "frame", None)
    if found is None:
        standing = standing_of(request.user)
        clusters = list(visible_clusters(standing).filter(enabled=True).order_by("pk"))
        chosen = next((one for one in clusters if one.pk == request.session.get(CHOSEN)), None)
        found = Frame(standing, clusters, chosen or next(iter(clusters), None))
        request.frame = found  # type: ignore[attr-defined]
    return found


def page(view: View) -> View:
    """A page for members: strangers are told how to become one, errors are shown as pages."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not frame_of(request).standing.is_anybody:
            return render(request, "web/nobody.html", {"title": "No tenant yet"}, status=403)
        try:
            return view(request, *args, **kwargs)
        except MusterError as error:
            return error_page(request, error)

    return guarded


def cluster_page(view: Callable[..., HttpResponse]) -> View:
    """A page about one cluster, which the view is given; without any there is nothing to show yet."""

    @page
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        cluster = frame_of(request).cluster
        if cluster is None:
            return render(request, "web/no_cluster.html", {"title": "No cluster yet"})
        return view(request, cluster, *args, **kwargs)

    return guarded


def verb(view: View) -> View:
    """Something a person does: POST only; a refusal is said on the page he came from."""

    @login_required
    @require_POST
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except MusterError as error:
            messages.error(request, error.message)
            return back(request)

    return guarded


def back(request: HttpRequest) -> HttpResponse:
    """To the page named by `next`, else the one he came from, if it is ours; else the overview."""
    for url in (request.POST.get("next"), request.headers.get("Referer")):
        if url and url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure()):
            return redirect(url)
    return redirect(reverse("web:overview"))
