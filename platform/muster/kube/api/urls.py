"""Addresses of what is read from a cluster directly."""

from django.urls import path

from muster.kube.streams.views import LogView

urlpatterns = [path("jobs/<int:pk>/logs/", LogView.as_view(), name="job-logs")]
