"""The addresses of the whole platform."""

from django.contrib import admin
from django.urls import include, path

from muster.config.health import healthz, metrics

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("api/v1/", include("muster.config.api_urls")),
    path("", include("muster.web.urls")),
]

handler403 = "muster.web.errors.forbidden"
handler404 = "muster.web.errors.not_found"
handler500 = "muster.web.errors.failed"
