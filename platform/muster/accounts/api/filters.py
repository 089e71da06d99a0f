"""Filters of tenants and members."""

from muster.accounts.choices import Role
from muster.common.api.filters import SuffixFilterSet, choice, text


class TenantFilters(SuffixFilterSet):
    """By name."""

    columns = {"name": text("name")}


class MemberFilters(SuffixFilterSet):
    """By tenant, user and role."""

    columns = {"tenant": text("tenant__name"), "username": text("user__username"), "role": choice("role", Role.choices)}
