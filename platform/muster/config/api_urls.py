"""Everything below /api/v1/: each app's own addresses and the description of all of them."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

APPS = ("accounts", "clusters", "workloads", "placements", "fragmentation", "kube")

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    # Split: the script comes from an address of its own, as the content security policy demands.
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    *(path("", include(f"muster.{app}.api.urls")) for app in APPS),
]
