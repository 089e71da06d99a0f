"""Addresses of what touches devices and intents."""

from django.urls import path

from muster.placements.api import views
from muster.placements.choices import NodeVerb

urlpatterns = [
    path("jobs/bulk/", views.BulkView.as_view(), name="job-bulk"),
    path("jobs/<int:pk>/cancel/", views.CancelView.as_view(), name="job-cancel"),
    path("jobs/<int:pk>/workers/", views.WorkersView.as_view(), name="job-workers"),
    path("jobs/<int:pk>/verdict/", views.VerdictView.as_view(), name="job-verdict"),
    path("nodes/<int:pk>/cordon/", views.NodeOrderView.as_view(verb=NodeVerb.CORDON), name="node-cordon"),
    path("nodes/<int:pk>/uncordon/", views.NodeOrderView.as_view(verb=NodeVerb.UNCORDON), name="node-uncordon"),
]
