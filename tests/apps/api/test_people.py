"""Tenants, members, tokens and signing in over HTTP."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from rest_framework.test import APIClient

from muster.accounts.actions import create_token
from muster.accounts.choices import Role
from muster.accounts.models import ApiToken, Membership
from tests.support.builders import job_file, make_member, make_tenant, make_user, make_world
from tests.support.contract import PermissionContract, RowsContract, client


class TestTenants(RowsContract):
    path = "/api/v1/tenants/"

    def make(self, world, count):
        made = [make_tenant() for _ in range(count)]
        return [Membership.objects.create(user=world.member, tenant=tenant) for tenant in made]


class TestMembers(RowsContract):
    path = "/api/v1/members/"

    def make(self, world, count):
        return [make_member(world.tenant) for _ in range(count)]


class TestTokens(RowsContract):
    path = "/api/v1/tokens/"

    def make(self, world, count):
        return [create_token(world.member, f"t{number}")[0] for number in range(count)]


class TestMemberPermissions(PermissionContract):
    table = [("delete", "/api/v1/members/{pk}/", None, (204, 204, 403, 403, 404, 404, 401))]

    def make(self, world):
        return make_member(world.tenant).memberships.get().pk


@pytest.fixture
def world(db):
    cache.clear()
    return make_world()


def with_token(secret: str, **options) -> APIClient:
    found = APIClient(**options)
    found.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return found


def test_a_token_is_shown_once_and_stored_hashed(world):
    answer = client(world.member).post("/api/v1/tokens/", {"name": "ci", "scope": "read", "days": 7}, format="json")
    assert answer.status_code == 201
    secret = answer.json()["token"]
    assert secret not in str(ApiToken.objects.values().get())
    assert "token" not in client(world.member).get("/api/v1/tokens/").json()["results"][0]
    assert with_token(secret).get("/api/v1/me/").json()["username"] == world.member.username
    assert ApiToken.objects.get().last_used is not None


def test_a_read_token_changes_nothing(world):
    _, secret = create_token(world.member, "t", scope="read")
    assert with_token(secret).get("/api/v1/jobs/").status_code == 200
    assert with_token(secret).post("/api/v1/jobs/", job_file(), format="json").status_code == 403


def test_a_token_is_bound_to_its_networks_and_dies_when_revoked(world):
    token, secret = create_token(world.member, "t", networks=["10.1.0.0/16"])
    assert with_token(secret, REMOTE_ADDR="10.2.0.1").get("/api/v1/me/").status_code == 401
    inside = with_token(secret, REMOTE_ADDR="10.1.0.1")
    assert inside.get("/api/v1/me/").status_code == 200
    assert client(world.tenant_admin).delete(f"/api/v1/tokens/{token.token_key}/").status_code == 404
    assert inside.delete(f"/api/v1/tokens/{token.token_key}/").status_code == 204
    assert inside.get("/api/v1/me/").status_code == 401


def test_a_bad_network_is_refused(world):
    answer = client(world.member).post("/api/v1/tokens/", {"name": "x", "networks": ["home"]}, format="json")
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["networks"])


def test_signing_in_from_a_terminal(world):
    world.member.set_password("right")
    world.member.save()
    body = {"username": world.member.username, "password": "right"}
    answer = APIClient().post("/api/v1/login/", body, format="json")
    assert answer.status_code == 201
    assert with_token(answer.json()["token"]).get("/api/v1/me/").status_code == 200
    assert APIClient().post("/api/v1/login/", body | {"password": "wrong"}, format="json").status_code == 400


def test_guessing_passwords_is_slowed_down(world):
    body = {"username": "nobody", "password": "x"}
    statuses = [APIClient().post("/api/v1/login/", body, format="json").status_code for _ in range(21)]
    assert statuses[-1] == 429


def test_an_admin_adds_members_and_the_last_admin_stays(world):
    make_user("newcomer")
    admin = client(world.tenant_admin)
    body = {"tenant": "vision", "username": "newcomer", "role": "member"}
    assert client(world.member).post("/api/v1/members/", body, format="json").status_code == 403
    assert admin.post("/api/v1/members/", body, format="json").status_code == 201
    own = Membership.objects.get(user=world.tenant_admin)
    assert admin.delete(f"/api/v1/members/{own.pk}/").json()["code"] == "last_admin"
    assert Membership.objects.filter(role=Role.ADMIN, tenant=world.tenant).count() == 1


def test_me_says_who_and_where(world):
    answer = client(world.viewer).get("/api/v1/me/").json()
    assert (answer["username"], answer["is_platform_admin"]) == ("vision-viewer", False)
    assert [(tenant["name"], tenant["role"], tenant["capabilities"]) for tenant in answer["tenants"]] == [
        ("vision", "viewer", [])
    ]
