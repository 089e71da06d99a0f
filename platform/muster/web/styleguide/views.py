"""The styleguide's page and the data its islands ask for."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from muster.web.styleguide import cluster, sample

LARGEST = 20_000


def _debug_only() -> None:
    if not settings.DEBUG:
        raise Http404


def page(request: HttpRequest) -> HttpResponse:
    _debug_only()
    context = {
        "title": "Styleguide",
        "crumbs": [{"label": "Styleguide"}],
        "sample": sample,
        "wiring": cluster.wiring(),
        "nodes": request.GET.get("nodes", "24"),
    }
    return render(request, "web/styleguide.html", context)


def map_data(request: HttpRequest) -> JsonResponse:
    _debug_only()
    return JsonResponse(cluster.cluster(min(LARGEST, int(request.GET.get("nodes", "24")))))


def log(_request: HttpRequest) -> HttpResponse:
    _debug_only()
    return HttpResponse(sample.LOG, content_type="text/plain; charset=utf-8")
