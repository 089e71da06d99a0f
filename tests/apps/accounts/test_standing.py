"""Who may do what: the one table of rights."""

from __future__ import annotations

import pytest

from muster.accounts.actions import remove_member, set_member
from muster.accounts.choices import Role
from muster.accounts.errors import LastAdmin, NotTheirAdmin
from muster.accounts.models import Membership
from muster.accounts.queries import visible_tenants
from muster.accounts.standing import standing_of
from muster.audit.models import AuditEntry
from tests.support.builders import make_user, make_world

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("person", "see", "submit", "manage", "own_job", "others_job"),
    [
        ("admin", True, True, True, True, True),
        ("tenant_admin", True, True, True, True, True),
        ("member", True, True, False, True, False),
        ("viewer", True, False, False, False, False),
    ],
)
def test_roles_in_ones_own_tenant(person, see, submit, manage, own_job, others_job):
    world = make_world()
    user, tenant = getattr(world, person), world.tenant.pk
    standing = standing_of(user)
    found = (standing.can_see(tenant), standing.can_submit(tenant), standing.can_manage(tenant))
    assert found == (see, submit, manage)
    assert standing.can_change_job(tenant, user.pk) == own_job
    assert standing.can_change_job(tenant, user.pk + 1000) == others_job


def test_nobody_has_rights_in_another_tenant_but_platform_admins():
    world, other = make_world(), make_world("other")
    for person in (world.tenant_admin, world.member, world.viewer, make_user()):
        standing = standing_of(person)
        assert not any((standing.can_see(other.tenant.pk), standing.can_submit(other.tenant.pk)))
        assert other.tenant not in visible_tenants(standing)
    assert standing_of(world.admin).can_manage(other.tenant.pk)


def test_an_inactive_user_and_a_newcomer_are_nobody():
    world = make_world()
    assert not standing_of(make_user()).is_anybody
    world.admin.is_active = False
    assert not standing_of(world.admin).is_anybody


def test_a_member_taken_out_loses_his_jobs_too():
    world = make_world()
    membership = Membership.objects.get(user=world.member)
    remove_member(world.tenant_admin, membership)
    assert not standing_of(world.member).can_change_job(world.tenant.pk, world.member.pk)
    assert AuditEntry.objects.get(verb="member.remove").detail == {"user": "vision-member"}


def test_only_its_admins_change_a_tenants_members_and_one_admin_stays():
    world = make_world()
    own = Membership.objects.get(user=world.tenant_admin)
    with pytest.raises(NotTheirAdmin):
        set_member(world.member, world.tenant, world.member, Role.ADMIN)
    with pytest.raises(LastAdmin):
        set_member(world.admin, world.tenant, world.tenant_admin, Role.MEMBER)
    with pytest.raises(LastAdmin):
        remove_member(world.admin, own)
    set_member(world.tenant_admin, world.tenant, world.member, Role.ADMIN)
    remove_member(world.tenant_admin, own)
    assert [found.user for found in Membership.objects.filter(role=Role.ADMIN)] == [world.member]
