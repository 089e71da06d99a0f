"""The admin site: every page opens, saves are actions, refusals stand in the form."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from muster.accounts.choices import Role
from muster.accounts.models import Membership, Tenant, User
from muster.audit.models import AuditEntry
from muster.clusters.models import Cluster, Node
from muster.common import clock
from muster.common.admin import PlatformAdminsOnly
from muster.common.models import Change
from muster.common.secrets import unseal
from muster.fragmentation.actions import store_mix, store_sample
from muster.quotas.models import PriorityClass, Queue, Quota
from tests.support.builders import make_member, make_node, make_priorities, make_quota, make_user, make_world, submit

OURS = [model for model, found in admin.site._registry.items() if isinstance(found, PlatformAdminsOnly)]


@pytest.fixture
def world(db):
    found = make_world(nodes=1)
    make_priorities()
    make_quota(found.queue.parent, found.cluster, guaranteed=8, limit=8)
    submit(found.member)
    store_sample(found.cluster.pk, clock.now(), {})
    store_mix(found.cluster.pk, clock.now(), [], [])
    return found


@pytest.fixture
def site(world):
    client = Client()
    client.force_login(world.admin)
    return client


def address(model, page, *arguments):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=arguments)


@pytest.mark.parametrize("model", OURS, ids=lambda model: model._meta.model_name)
def test_every_list_and_form_opens(site, model):
    assert site.get(address(model, "changelist")).status_code == 200
    row = model._default_manager.first()
    assert row is not None, "the world has none"
    assert site.get(address(model, "change", row.pk)).status_code == 200
    if admin.site._registry[model].has_add_permission(site.get("/admin/").wsgi_request):
        assert site.get(address(model, "add")).status_code == 200


@pytest.mark.parametrize("model", OURS, ids=lambda model: model._meta.model_name)
def test_only_platform_admins_come_in(world, model):
    client = Client()
    client.force_login(world.tenant_admin)
    assert client.get(address(model, "changelist")).status_code == 302


def test_what_is_observed_and_the_audit_are_read_only(site):
    for model in (Node, AuditEntry):
        row = model.objects.first()
        assert site.post(address(model, "change", row.pk), {}).status_code == 403
        assert site.get(address(model, "add")).status_code == 403
        assert site.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403


def test_a_new_tenant_gets_its_top_queue_and_the_audit_says_who_made_it(site, world):
    site.post(address(Tenant, "add"), {"name": "robots", "title": "", "namespace": "robots"})
    tenant = Tenant.objects.get(name="robots")
    assert Queue.objects.get(tenant=tenant).parent is None
    assert AuditEntry.objects.get(verb="tenant.create").actor == world.admin
    assert Change.objects.filter(kind="queue", object_id=tenant.queues.get().pk).exists()


KUBECONFIG = "clusters: [{name: a, cluster: {server: https://a}}]\nusers: [{name: u, user: {token: very-secret}}]\n"


LEVELS = '[{"name": "rack", "label": "topology.muster.dev/rack"}]'


def cluster_form(**changes):
    found = {
        "name": "demo",
        "title": "",
        "connection": "file",
        "kubeconfig_path": "/k",
        "levels": LEVELS,
        "profile": "{}",
    }
    return found | {"scheduler_name": "muster", "enabled": "on"} | changes


def test_a_kubeconfig_goes_in_and_never_comes_out(site, world):
    page = address(Cluster, "change", world.cluster.pk)
    assert site.post(page, cluster_form(kubeconfig=KUBECONFIG)).status_code == 302
    cluster = Cluster.objects.get()
    assert unseal(cluster.kubeconfig_sealed).strip() == KUBECONFIG.strip()
    assert b"very-secret" not in bytes(cluster.kubeconfig_sealed)
    assert "very-secret" not in site.get(page).content.decode()
    assert "very-secret" not in str(AuditEntry.objects.values_list("detail", flat=True))
    site.post(page, cluster_form(connection="inline", title="Still there"))
    assert Cluster.objects.get().kubeconfig_sealed is not None


def test_a_kubeconfig_that_runs_programs_is_refused_beside_its_field(site, world):
    evil = "clusters: [{}]\nusers: [{name: u, user: {exec: {command: sh}}}]\n"
    answer = site.post(address(Cluster, "change", world.cluster.pk), cluster_form(kubeconfig=evil))
    assert "runs a program to sign in" in answer.content.decode()
    assert Cluster.objects.get().kubeconfig_sealed is None


def quota_form(queue, cluster, **row):
    form = {
        "tenant": queue.tenant_id,
        "parent": queue.parent_id or "",
        "name": queue.name,
        "priority": 0,
        "reclaim": "on",
    }
    existing = Quota.objects.filter(queue=queue).first()
    rows = {
        "id": existing.pk if existing else "",
        "queue": queue.pk,
        "cluster": cluster.pk,
        "resource": "gpu",
        "weight": 1,
    } | row
    form |= {"quotas-TOTAL_FORMS": 1, "quotas-INITIAL_FORMS": int(existing is not None), "quotas-MAX_NUM_FORMS": 1000}
    return form | {f"quotas-0-{key}": value for key, value in rows.items()}


def test_quotas_are_checked_against_the_tree_and_stored_with_their_changes(site, world):
    page = address(Queue, "change", world.queue.pk)
    answer = site.post(page, quota_form(world.queue, world.cluster, guaranteed=9))
    assert "guarantees 8 GPUs, the queues below it 9 together" in answer.content.decode()
    assert not Quota.objects.filter(queue=world.queue).exists()
    before = Queue.objects.get(pk=world.queue.pk).sched_rev
    assert site.post(page, quota_form(world.queue, world.cluster, guaranteed=6, limit=8)).status_code == 302
    assert Quota.objects.get(queue=world.queue).guaranteed == 6
    assert Queue.objects.get(pk=world.queue.pk).sched_rev > before
    assert AuditEntry.objects.get(verb="quota.set").detail["guaranteed"] == 6
    assert site.post(page, quota_form(world.queue, world.cluster, DELETE="on", guaranteed=6)).status_code == 302
    assert not Quota.objects.filter(queue=world.queue).exists()


def test_guarantees_fit_into_the_cluster(site, world):
    top = world.queue.parent
    answer = site.post(address(Queue, "change", top.pk), quota_form(top, world.cluster, guaranteed=9, limit=9))
    assert "guarantee 9 GPUs, demo has 8" in answer.content.decode()


def test_a_queue_with_jobs_is_not_deleted(site, world):
    page = address(Queue, "delete", world.queue.pk)
    assert "has jobs" in site.get(page).content.decode()
    site.post(page, {"post": "yes"})
    assert Queue.objects.filter(pk=world.queue.pk).exists()
    empty = Queue.objects.create(tenant=world.tenant, name="empty", parent=world.queue.parent)
    site.post(address(Queue, "delete", empty.pk), {"post": "yes"})
    assert not Queue.objects.filter(pk=empty.pk).exists()


def member_form(tenant, rows):
    form = {"name": tenant.name, "title": "", "namespace": tenant.namespace}
    form |= {"memberships-TOTAL_FORMS": len(rows), "memberships-INITIAL_FORMS": 3, "memberships-MAX_NUM_FORMS": 1000}
    return form | {
        f"memberships-{number}-{key}": value
        for number, (pk, user, role, extra) in enumerate(rows)
        for key, value in ({"id": pk, "user": user, "role": role, "tenant": tenant.pk} | extra).items()
    }


def test_members_are_set_by_their_action_and_the_last_admin_stays(site, world):
    rows = [(found.pk, found.user_id, found.role, {}) for found in world.tenant.memberships.order_by("pk")]
    page = address(Tenant, "change", world.tenant.pk)
    newcomer = make_user("newcomer")
    assert site.post(page, member_form(world.tenant, [*rows, ("", newcomer.pk, Role.VIEWER, {})])).status_code == 302
    assert Membership.objects.get(user=newcomer).role == Role.VIEWER
    assert AuditEntry.objects.get(verb="member.set").detail == {"user": "newcomer", "role": "viewer"}
    rows[0] = (*rows[0][:3], {"DELETE": "on"})
    answer = site.post(page, member_form(world.tenant, rows))
    assert "keeps at least one admin" in answer.content.decode()
    assert world.tenant.memberships.filter(role=Role.ADMIN).count() == 1


def test_a_second_default_takes_the_place_of_the_first(site):
    low = PriorityClass.objects.get(name="low")
    form = {"name": "low", "value": 20, "is_default": "on", "may_preempt": "on"}
    assert site.post(address(PriorityClass, "change", low.pk), form).status_code == 302
    assert PriorityClass.objects.get(is_default=True) == low


def test_a_platform_admin_cannot_lock_himself_out(site, world):
    page = address(User, "change", world.admin.pk)
    answer = site.post(page, {"username": world.admin.username, "is_active": "on"})
    assert "It is yourself." in answer.content.decode()
    other = make_member(world.tenant)
    site.post(address(User, "change", other.pk), {"username": other.username, "is_staff": "on", "is_active": "on"})
    assert User.objects.get(pk=other.pk).is_superuser


def test_nodes_are_listed_with_their_gpus(site, world):
    node = make_node(world.cluster, "gpu-node")
    assert "H100-80GB" in site.get(address(Node, "change", node.pk)).content.decode()
