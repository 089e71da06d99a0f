"""The content security policy: strict everywhere, loosened for the admin site alone."""

from csp.middleware import CSPMiddleware
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse


class ScopedCSPMiddleware(CSPMiddleware):
    """unfold's Alpine evaluates strings, so its pages, and no others, may."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if request.path.startswith(reverse("admin:index")):
            response._csp_replace = settings.ADMIN_SECURITY_POLICY  # type: ignore[attr-defined]
        return super().process_response(request, response)
