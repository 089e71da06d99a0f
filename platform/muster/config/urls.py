"""The addresses of the whole platform."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from muster.config.health import healthz, metrics
from muster.config.parts import exists

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("api/v1/", include("muster.config.api_urls")),
]

if exists("muster.web.urls"):
    urlpatterns.append(path("", include("muster.web.urls")))

handler403 = "muster.web.errors.forbidden"
handler404 = "muster.web.errors.not_found"
handler500 = "muster.web.errors.failed"
