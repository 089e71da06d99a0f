"""Queues, nodes, one node, and orders to it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from muster.clusters.actions import must_administer
from muster.clusters.models import Cluster
from muster.clusters.queries import visible_nodes
from muster.placements.actions import order_node
from muster.web.access import cluster_page, frame_of, page, verb
from muster.web.reading.cluster import node_list, node_page
from muster.web.reading.queues import queue_tree


@cluster_page
def queues(request: HttpRequest, cluster: Cluster) -> HttpResponse:
    """The tree of queues with their bars."""
    context = {"title": "Queues", "section": "queues", "crumbs": [{"label": "Queues"}]}
    return render(request, "web/queues.html", context | queue_tree(frame_of(request).standing, cluster.pk))


@cluster_page
def nodes(request: HttpRequest, cluster: Cluster) -> HttpResponse:
    """The cluster's nodes."""
    context = {"title": "Cluster", "section": "cluster", "crumbs": [{"label": "Cluster"}]}
    return render(request, "web/cluster.html", context | node_list(frame_of(request).standing, cluster, request.GET))


@page
def node(request: HttpRequest, pk: int) -> HttpResponse:
    """One node with its wiring and who sits where."""
    standing = frame_of(request).standing
    found = get_object_or_404(visible_nodes(standing), pk=pk)
    crumbs = [{"label": "Cluster", "url": reverse("web:cluster")}, {"label": found.name}]
    context = {"title": found.name, "section": "cluster", "crumbs": crumbs}
    return render(request, "web/node.html", context | node_page(standing, found))


@verb
def order(request: HttpRequest, pk: int, what: str) -> HttpResponse:
    """Cordon or uncordon a node; for platform admins."""
    must_administer(request.user)
    found = get_object_or_404(visible_nodes(frame_of(request).standing), pk=pk)
    order_node(found, what, request.user)
    messages.success(request, f"{found.name} is being {what}ed.")
    return redirect("web:node", pk)
