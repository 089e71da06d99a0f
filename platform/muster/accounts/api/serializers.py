"""People, tenants and tokens as JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from muster.accounts.choices import Role, Scope
from muster.accounts.models import ApiToken, Membership, Tenant
from muster.common.api.serializers import RowSerializer

VERBS = ["submit", "manage"]


class TenantSerializer(RowSerializer[Tenant]):
    """A tenant with the reader's role in it."""

    role = serializers.SerializerMethodField()
    capabilities = serializers.SerializerMethodField()

    class Meta:
        model = Tenant
        fields = ("id", "name", "title", "namespace", "role", "capabilities")

    @extend_schema_field(serializers.ChoiceField(choices=Role.choices, allow_null=True))
    def get_role(self, tenant: Tenant) -> str | None:
        """None for a platform admin who is no member."""
        return self.reader.roles.get(tenant.pk)

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(choices=VERBS)))
    def get_capabilities(self, tenant: Tenant) -> list[str]:
        """What the reader may do in it."""
        may = {"submit": self.reader.can_submit(tenant.pk), "manage": self.reader.can_manage(tenant.pk)}
        return [verb for verb, allowed in may.items() if allowed]


class MemberSerializer(RowSerializer[Membership]):
    """A member of a tenant."""

    username = serializers.CharField(source="user.username", read_only=True)
    tenant = serializers.CharField(source="tenant.name", read_only=True)

    class Meta:
        model = Membership
        fields = ("id", "tenant", "username", "role")


class NewMemberSerializer(serializers.Serializer[Any]):
    """Giving a user a role."""

    tenant = serializers.CharField(max_length=42)
    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=Role.choices)


class TokenSerializer(RowSerializer[ApiToken]):
    """A token without its secret."""

    id = serializers.CharField(source="token_key", read_only=True)

    class Meta:
        model = ApiToken
        fields: tuple[str, ...] = ("id", "name", "scope", "networks", "created", "expiry", "last_used")


class NewTokenSerializer(serializers.Serializer[Any]):
    """Asking for a token."""

    name = serializers.CharField(max_length=80)
    scope = serializers.ChoiceField(choices=Scope.choices, default=Scope.WRITE)
    days = serializers.IntegerField(
        min_value=1, max_value=3650, required=False, help_text="it expires then; else never"
    )
    networks = serializers.ListField(child=serializers.CharField(max_length=43), default=list, max_length=32)


class IssuedTokenSerializer(TokenSerializer):
    """A new token, the only time its secret is shown."""

    token = serializers.CharField(read_only=True)

    class Meta(TokenSerializer.Meta):
        fields = (*TokenSerializer.Meta.fields, "token")


class LoginSerializer(serializers.Serializer[Any]):
    """Signing in from a terminal."""

    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=128, trim_whitespace=False)
    name = serializers.CharField(max_length=80, default="muster login")


class MeSerializer(serializers.Serializer[Any]):
    """Who is signed in."""

    id = serializers.IntegerField()
    username = serializers.CharField()
    is_platform_admin = serializers.BooleanField()
    tenants = TenantSerializer(many=True)
