"""How often one token may ask."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle


class PerToken(SimpleRateThrottle):
    """Each token, or signed-in browser, has a rate of its own; counted per web process, so that no request waits for Redis."""

    scope = "token"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        """None: an anonymous request is refused anyway."""
        if not request.user.is_authenticated:
            return None
        ident = getattr(request.auth, "token_key", None) or f"user{request.user.pk}"
        return self.cache_format % {"scope": self.scope, "ident": ident}


class PerAddress(SimpleRateThrottle):
    """Signing in is tried from one address only so often: passwords are not to be guessed."""

    scope = "login"

    def get_cache_key(self, request: Request, view: Any) -> str:
        """By the caller's address."""
        return self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)}
