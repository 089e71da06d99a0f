"""Addresses of jobs and queues."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from muster.workloads.api import views

router = SimpleRouter()
router.register("jobs", views.JobView, basename="job")
router.register("queues", views.QueueView, basename="queue")

urlpatterns = [*router.urls, path("job-schema/", views.JobSchemaView.as_view(), name="job-schema")]
