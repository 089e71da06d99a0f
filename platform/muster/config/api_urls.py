"""Everything below /api/v1/: each app's own addresses and the description of all of them."""

from django.conf import settings
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from muster.config.parts import exists

urlpatterns: list[URLPattern | URLResolver] = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    # Split: the script comes from an address of its own, as the content security policy demands.
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    *(path("", include(f"muster.{app}.api.urls")) for app in settings.OUR_APPS if exists(f"muster.{app}.api.urls")),
]
