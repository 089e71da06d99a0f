"""The first page, and the choice of cluster."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from muster.clusters.models import Cluster
from muster.web.access import CHOSEN, back, cluster_page, frame_of, verb
from muster.web.reading.cluster import map_frame
from muster.web.reading.overview import overview as read
from muster.web.reading.search import search as find


@cluster_page
def overview(request: HttpRequest, cluster: Cluster) -> HttpResponse:
    """Figures, the map, what waits and what changed lately."""
    context = {"title": "Overview", "section": "overview", "crumbs": [{"label": "Overview"}]}
    return render(request, "web/overview.html", context | read(frame_of(request).standing, cluster))


@cluster_page
def map_data(request: HttpRequest, cluster: Cluster) -> HttpResponse:
    """What the map needs besides its topic."""
    return JsonResponse(map_frame(frame_of(request).standing, cluster))


@cluster_page
def search(request: HttpRequest, cluster: Cluster) -> HttpResponse:
    """What the command palette finds."""
    return JsonResponse({"results": find(frame_of(request).standing, cluster, request.GET.get("q", ""))})


@verb
def choose_cluster(request: HttpRequest) -> HttpResponse:
    """Look at another cluster from now on."""
    request.session[CHOSEN] = int(request.POST.get("cluster") or 0)
    return back(request)
