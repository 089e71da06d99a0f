"""Reading tenants and members, filtered by what the reader may see."""

from __future__ import annotations

from django.db.models import QuerySet

from muster.accounts.models import ApiToken, Membership, Tenant
from muster.accounts.standing import Standing


def visible_tenants(standing: Standing) -> QuerySet[Tenant]:
    """The user's tenants; all of them for a platform admin."""
    tenants = Tenant.objects.all()
    return tenants if standing.is_platform_admin else tenants.filter(pk__in=standing.roles)


def visible_memberships(standing: Standing) -> QuerySet[Membership]:
    """Who is in the user's tenants."""
    return Membership.objects.filter(tenant__in=visible_tenants(standing)).select_related("user", "tenant")


def own_tokens(standing: Standing) -> QuerySet[ApiToken]:
    """The user's own tokens and nobody else's, not even for platform admins."""
    return ApiToken.objects.filter(user_id=standing.user_id).order_by("-created")
