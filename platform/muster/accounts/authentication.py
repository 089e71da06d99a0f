"""Signing in with a token: knox, and what our tokens know beside."""

from __future__ import annotations

import ipaddress
from typing import Any

from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox.auth import TokenAuthentication as KnoxAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from muster.accounts.actions import note_use
from muster.accounts.models import ApiToken


class TokenAuthentication(KnoxAuthentication):
    """`Authorization: Bearer …`, from the networks that the token names."""

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        """The user and the token, None when the request carries none."""
        found = super().authenticate(request)
        if found is not None:
            token: ApiToken = found[1]
            if token.networks and not _is_inside(request.META.get("REMOTE_ADDR", ""), token.networks):
                raise AuthenticationFailed("This token may not be used from here.")
            note_use(token)
        return found


def _is_inside(address: str, networks: list[str]) -> bool:
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(ip in ipaddress.ip_network(network) for network in networks)


class TokenScheme(KnoxTokenScheme):
    """How the OpenAPI description names it."""

    target_class = "muster.accounts.authentication.TokenAuthentication"
    name = "token"
