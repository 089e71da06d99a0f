"""What a token may do. What a person may do is said by accounts.standing, in queries and actions."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import SAFE_METHODS, IsAuthenticated
from rest_framework.request import Request

READ = "read"


class SignedInWithinScope(IsAuthenticated):
    """Signed in; a read token changes nothing."""

    message = "This token may only read."

    def has_permission(self, request: Request, view: Any) -> bool:
        """Anonymous: 401. A read token that would write: 403."""
        if not super().has_permission(request, view):
            return False
        return request.method in SAFE_METHODS or getattr(request.auth, "scope", "") != READ
