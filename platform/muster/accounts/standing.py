"""What a user may do where: read once per request, asked many times.

Platform admins (`is_staff`) may do everything. In a tenant, an admin manages members, queues and all jobs; a member submits and
manages his own jobs and sees the others'; a viewer sees. A user without a membership sees nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from muster.accounts.choices import Role
from muster.accounts.models import Membership

SUBMITTERS = frozenset({Role.ADMIN, Role.MEMBER})


@dataclass(frozen=True)
class Standing:
    """A user's rights. `roles` maps the ids of his tenants to his role there."""

    user_id: int | None
    is_platform_admin: bool = False
    roles: Mapping[int, str] = field(default_factory=dict)

    @property
    def is_anybody(self) -> bool:
        """Whether the user may see what all members share: nodes, queues, totals."""
        return self.is_platform_admin or bool(self.roles)

    def can_see(self, tenant_id: int) -> bool:
        """Whether the tenant's jobs are visible."""
        return self.is_platform_admin or tenant_id in self.roles

    def can_submit(self, tenant_id: int) -> bool:
        """Whether jobs may be submitted to the tenant's queues."""
        return self.is_platform_admin or self.roles.get(tenant_id) in SUBMITTERS

    def can_manage(self, tenant_id: int) -> bool:
        """Whether members, queues and everybody's jobs of the tenant may be changed."""
        return self.is_platform_admin or self.roles.get(tenant_id) == Role.ADMIN

    def can_change_job(self, tenant_id: int, owner_id: int) -> bool:
        """Whether a job may be cancelled, held, released or given another priority."""
        return self.can_manage(tenant_id) or (owner_id == self.user_id and self.can_submit(tenant_id))


def standing_of(user: Any) -> Standing:
    """The user's rights as the rows say now; an anonymous or inactive one has none."""
    if not getattr(user, "is_authenticated", False) or not user.is_active:
        return Standing(None)
    roles = dict(Membership.objects.filter(user_id=user.pk).values_list("tenant_id", "role"))
    return Standing(user.pk, user.is_staff, roles)
