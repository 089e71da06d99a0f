"""Addresses of people, tenants and tokens."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.contrib.auth import authenticate
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from muster.accounts import actions
from muster.accounts.api import serializers as shapes
from muster.accounts.api.base import MemberView, StandingMixin
from muster.accounts.api.filters import MemberFilters, TenantFilters
from muster.accounts.choices import Scope
from muster.accounts.models import ApiToken, Membership, Tenant, User
from muster.accounts.queries import own_tokens, visible_memberships, visible_tenants
from muster.common.api.throttles import PerAddress
from muster.common.errors import Forbidden, Invalid


class TenantView(MemberView):
    """The reader's tenants."""

    queryset = Tenant.objects.none()
    serializer_class = shapes.TenantSerializer
    filterset_class = TenantFilters
    search = ("name", "title")
    orders = {"name": "name"}

    def get_queryset(self) -> QuerySet[Tenant]:
        return visible_tenants(self.standing)


class MemberOfTenantView(MemberView):
    """Who is in the reader's tenants; a tenant's admin adds, changes and removes."""

    queryset = Membership.objects.none()
    serializer_class = shapes.MemberSerializer
    filterset_class = MemberFilters
    search = ("user__username",)
    orders = {"username": "user__username", "tenant": "tenant__name"}

    def get_queryset(self) -> QuerySet[Membership]:
        return visible_memberships(self.standing).order_by("pk")

    @extend_schema(request=shapes.NewMemberSerializer, responses={201: shapes.MemberSerializer})
    def create(self, request: Request) -> Response:
        """Give a user a role in a tenant, whether or not he had one."""
        asked = shapes.NewMemberSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        tenant = get_object_or_404(visible_tenants(self.standing), name=asked.validated_data["tenant"])
        if not self.standing.can_manage(tenant.pk):
            # Before the name is looked up: who may not add members learns no user names here.
            raise Forbidden("Only an admin of the tenant may change its members.")
        user = User.objects.filter(username=asked.validated_data["username"], is_active=True).first()
        if user is None:
            raise Invalid("There is no such user.", fields={"username": ["There is no such user."]})
        membership = actions.set_member(request.user, tenant, user, asked.validated_data["role"])
        return Response(self.get_serializer(membership).data, status=status.HTTP_201_CREATED)

    def destroy(self, request: Request, **kwargs: Any) -> Response:
        """Take a user out of a tenant."""
        actions.remove_member(request.user, self.get_object())
        return Response(status=status.HTTP_204_NO_CONTENT)


class TokenView(MemberView):
    """The reader's own tokens."""

    queryset = ApiToken.objects.none()
    serializer_class = shapes.TokenSerializer
    lookup_field, lookup_value_regex = "token_key", "[0-9a-f]+"
    orders = {"name": "name", "created": "created"}

    def get_queryset(self) -> QuerySet[ApiToken]:
        return own_tokens(self.standing)

    @extend_schema(request=shapes.NewTokenSerializer, responses={201: shapes.IssuedTokenSerializer})
    def create(self, request: Request) -> Response:
        """Make a token. Its secret is in this answer and never again."""
        asked = shapes.NewTokenSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        found = asked.validated_data
        lives = dt.timedelta(days=found["days"]) if "days" in found else None
        token, secret = actions.create_token(
            request.user, found["name"], scope=found["scope"], lives=lives, networks=found["networks"]
        )
        return Response(_issued(token, secret, self.get_serializer_context()), status=status.HTTP_201_CREATED)

    def destroy(self, request: Request, token_key: str) -> Response:
        """Revoke a token, at once."""
        actions.revoke_token(request.user, token_key)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _issued(token: ApiToken, secret: str, context: dict[str, Any]) -> dict[str, Any]:
    return {**shapes.TokenSerializer(token, context={**context, "whole": True}).data, "token": secret}


class LoginView(StandingMixin, APIView):
    """A token for a name and a password."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = (PerAddress,)

    @extend_schema(request=shapes.LoginSerializer, responses={201: shapes.IssuedTokenSerializer}, auth=[])
    def post(self, request: Request) -> Response:
        """Sign in from a terminal; the token lives 30 days."""
        asked = shapes.LoginSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        found = asked.validated_data
        user = authenticate(request, username=found["username"], password=found["password"])
        if user is None:
            raise Invalid("Name and password do not match.", fields={"password": ["Name and password do not match."]})
        token, secret = actions.create_token(user, found["name"], scope=Scope.WRITE, lives=dt.timedelta(days=30))
        return Response(_issued(token, secret, {}), status=status.HTTP_201_CREATED)


class MeView(StandingMixin, APIView):
    """Who is signed in."""

    @extend_schema(responses=shapes.MeSerializer)
    def get(self, request: Request) -> Response:
        """Name, rights and tenants of whoever asks."""
        me = {
            "id": request.user.pk,
            "username": request.user.get_username(),
            "is_platform_admin": self.standing.is_platform_admin,
            "tenants": visible_tenants(self.standing).filter(pk__in=self.standing.roles),
        }
        return Response(shapes.MeSerializer(me, context={"standing": self.standing}).data)
