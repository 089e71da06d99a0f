"""How broken up the free GPUs are."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from muster.clusters.models import Cluster
from muster.web.access import cluster_page
from muster.web.reading.fragmentation import fragmentation_page


@cluster_page
def fragmentation(request: HttpRequest, cluster: Cluster) -> HttpResponse:
    """What fits now, what is stranded, and the last hours."""
    context = {"title": "Fragmentation", "section": "fragmentation", "crumbs": [{"label": "Fragmentation"}]}
    return render(request, "web/fragmentation.html", context | fragmentation_page(cluster, request.GET))
