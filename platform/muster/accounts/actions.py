"""Every write to members and tokens. (A tenant is made with its top queue, by quotas.actions.)"""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from muster.accounts.choices import Role, Scope
from muster.accounts.errors import LastAdmin, NotTheirAdmin
from muster.accounts.models import ApiToken, Membership, Tenant, User
from muster.accounts.standing import standing_of
from muster.audit import actions as audit
from muster.common import clock
from muster.common.errors import Forbidden, Invalid, NotFound
from muster.common.validation import validate

LAST_USED_STEP = dt.timedelta(minutes=1)


@transaction.atomic
def save_user(actor: Any, user: User) -> User:
    """Store a new or changed user. A platform admin cannot lock himself out."""
    if actor is not None and not standing_of(actor).is_platform_admin:
        raise Forbidden("Only a platform admin may do this.")
    if actor is not None and actor.pk == user.pk and not (user.is_staff and user.is_active):
        raise Invalid("You cannot take these rights from yourself.", fields={"is_staff": ["It is yourself."]})
    created = user.pk is None
    user.is_superuser = user.is_staff
    validate(user)
    user.save()
    verb = "user.create" if created else "user.update"
    audit.record(actor, verb, user, username=user.username, is_staff=user.is_staff, is_active=user.is_active)
    return user


@transaction.atomic
def create_token(
    user: Any,
    name: str,
    *,
    scope: str = Scope.WRITE,
    lives: dt.timedelta | None = None,
    networks: Sequence[str] = (),
) -> tuple[ApiToken, str]:
    """A new token and its secret, which is stored hashed and never shown again. `lives` None: it does not expire."""
    cleaned = [_network(text) for text in networks]
    token, secret = ApiToken.objects.create(user=user, expiry=lives, name=name, scope=scope, networks=cleaned)
    audit.record(user, "token.create", user, name=name, scope=str(scope), key=token.token_key)
    return token, secret


@transaction.atomic
def revoke_token(user: Any, token_key: str) -> None:
    """Delete one of the user's own tokens."""
    deleted, _ = ApiToken.objects.filter(user=user, token_key=token_key).delete()
    if not deleted:
        raise NotFound("You have no such token.")
    audit.record(user, "token.revoke", user, key=token_key)


def note_use(token: ApiToken) -> None:
    """Remember that the token was used, at most once a minute: every request writing a row would cost more than it tells."""
    now = clock.now()
    if token.last_used is None or now - token.last_used > LAST_USED_STEP:
        ApiToken.objects.filter(pk=token.pk).update(last_used=now)


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        message = f"`{text}` is not a network, as 10.0.0.0/8."
        raise Invalid(message, fields={"networks": [message]}) from None


@transaction.atomic
def set_member(actor: Any, tenant: Tenant, user: User, role: str) -> Membership:
    """Give a user a role in the tenant, whether or not he had one."""
    _must_manage(actor, tenant)
    members = _locked(tenant)
    before = members.get(user.pk)
    if before and before.role == Role.ADMIN and role != Role.ADMIN:
        _must_keep_an_admin(members, user)
    membership, _ = Membership.objects.update_or_create(tenant=tenant, user=user, defaults={"role": role})
    audit.record(actor, "member.set", membership, tenant_id=tenant.pk, user=user.username, role=str(role))
    return membership


@transaction.atomic
def remove_member(actor: Any, membership: Membership) -> None:
    """Take a user out of the tenant. His jobs go on; the tenant's admins manage them."""
    tenant = membership.tenant
    _must_manage(actor, tenant)
    members = _locked(tenant)
    if membership.role == Role.ADMIN:
        _must_keep_an_admin(members, membership.user)
    audit.record(actor, "member.remove", membership, tenant_id=tenant.pk, user=membership.user.username)
    membership.delete()


def _must_manage(actor: Any, tenant: Tenant) -> None:
    if actor is not None and not standing_of(actor).can_manage(tenant.pk):
        raise NotTheirAdmin


def _locked(tenant: Tenant) -> dict[int, Membership]:
    """The tenant's members by user; two admins who remove each other at once meet here."""
    return {found.user_id: found for found in tenant.memberships.select_for_update().order_by("pk")}


def _must_keep_an_admin(members: dict[int, Membership], leaving: User) -> None:
    if not any(found.role == Role.ADMIN and pk != leaving.pk for pk, found in members.items()):
        raise LastAdmin
