"""Queues, quotas and tenants: who may change them, what adds up, and whom it tells."""

from __future__ import annotations

import pytest

from muster.accounts.choices import Role
from muster.accounts.models import Tenant
from muster.audit.models import AuditEntry
from muster.common.errors import Forbidden, Invalid
from muster.common.models import Change, Event
from muster.quotas.actions import delete_queue, save_priority_class, save_queue, save_tenant, set_quotas
from muster.quotas.errors import NotTheirAdmin, QueueInUse, QuotaInvalid
from muster.quotas.models import PriorityClass, Queue, Quota
from tests.support.builders import make_cluster, make_user, make_world, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    return make_world(nodes=2)


def quotas(world, **guarantees):
    """Quotas of the world's queues by name: a guarantee, or a (guarantee, limit)."""
    rows = []
    for name, figures in guarantees.items():
        guaranteed, limit = figures if isinstance(figures, tuple) else (figures, None)
        queue = Queue.objects.get(tenant=world.tenant, name=name)
        rows.append(Quota(queue=queue, guaranteed=guaranteed, limit=limit))
    return rows


@pytest.mark.parametrize(
    ("figures", "sentence"),
    [
        ({"vision": (8, 4)}, "guarantees 8 GPUs but is limited to 4"),
        ({"vision": 4, "train": 5}, "guarantees 4 GPUs, the queues below it 5 together"),
        ({"vision": (4, 8), "train": (4, 9)}, "has a limit of 9 GPUs, above its parent's 8"),
        ({"vision": 17}, "guarantee 17 GPUs, demo has 16"),
    ],
)
def test_quotas_that_do_not_add_up_are_refused_by_queue_and_nothing_is_kept(world, figures, sentence):
    with pytest.raises(QuotaInvalid, match=sentence) as refused:
        set_quotas(world.admin, world.cluster, quotas(world, **figures))
    assert all(name.startswith("vision/") for name in refused.value.fields)
    assert not Quota.objects.exists()


def test_two_children_are_added_up(world):
    save_queue(world.tenant_admin, Queue(tenant=world.tenant, name="second", parent=world.queue.parent))
    with pytest.raises(QuotaInvalid, match="8 GPUs, the queues below it 10 together"):
        set_quotas(world.admin, world.cluster, quotas(world, vision=8, train=5, second=5))
    assert len(set_quotas(world.admin, world.cluster, quotas(world, vision=10, train=5, second=5))) == 3


def test_a_cluster_that_nobody_has_seen_bounds_nothing(world):
    empty = make_cluster()
    assert set_quotas(world.admin, empty, quotas(world, vision=10**6))


def test_a_change_of_quota_tells_the_schedulers_and_pages_of_its_cluster_alone(world):
    other = make_cluster()
    before = Queue.objects.get(pk=world.queue.pk).sched_rev
    Change.objects.all().delete()
    set_quotas(world.admin, world.cluster, quotas(world, vision=8, train=8))
    assert Queue.objects.get(pk=world.queue.pk).sched_rev == before + 1
    assert set(Change.objects.values_list("cluster_id", "kind")) == {(world.cluster.pk, "queue")}
    assert Event.objects.filter(topic=f"queues/{world.cluster.pk}", object_id=world.queue.pk).exists()
    assert not Event.objects.filter(topic=f"queues/{other.pk}").exists()


def test_a_tenants_admin_divides_what_the_tenant_has_and_no_more(world):
    set_quotas(world.admin, world.cluster, quotas(world, vision=8))
    assert set_quotas(world.tenant_admin, world.cluster, quotas(world, train=8))
    top = Quota.objects.get(queue=world.queue.parent)
    top.guaranteed = 16
    with pytest.raises(Forbidden):
        set_quotas(world.tenant_admin, world.cluster, [top])
    stranger = make_world("other").tenant_admin
    with pytest.raises(NotTheirAdmin):
        save_queue(stranger, Queue(tenant=world.tenant, name="mine", parent=world.queue.parent))
    with pytest.raises(NotTheirAdmin):
        save_queue(world.member, Queue(tenant=world.tenant, name="mine", parent=world.queue.parent))


def test_each_tenant_has_one_top_queue_and_trees_do_not_mix(world):
    other = make_world("other")
    with pytest.raises(Invalid, match="one top queue"):
        save_queue(None, Queue(tenant=world.tenant, name="second-top"))
    with pytest.raises(Invalid, match="under its own tenant's"):
        save_queue(None, Queue(tenant=world.tenant, name="stray", parent=other.queue.parent))
    with pytest.raises(Invalid, match="already exists"):
        save_queue(None, Queue(tenant=world.tenant, name="train", parent=world.queue.parent))


def test_a_queue_with_jobs_gets_no_queues_below_it_and_is_not_deleted(world):
    submit(world.member)
    with pytest.raises(QueueInUse):
        save_queue(None, Queue(tenant=world.tenant, name="below", parent=world.queue))
    with pytest.raises(QueueInUse):
        delete_queue(None, world.queue)
    with pytest.raises(QueueInUse):
        delete_queue(None, world.queue.parent)
    spare = save_queue(None, Queue(tenant=world.tenant, name="spare", parent=world.queue.parent))
    delete_queue(world.tenant_admin, spare)
    assert Event.objects.filter(object_id__isnull=False, gone=True, kind="queue").exists()


def test_a_tenant_comes_with_a_top_queue_and_an_admin(world):
    first = make_user("first")
    tenant = save_tenant(world.admin, Tenant(name="fresh"), admin=first)
    assert (tenant.namespace, tenant.queues.get().name, tenant.memberships.get().role) == ("fresh", "fresh", Role.ADMIN)
    assert set(AuditEntry.objects.filter(tenant_id=tenant.pk).values_list("verb", flat=True)) == {
        "tenant.create",
        "queue.create",
        "member.set",
    }
    with pytest.raises(Forbidden):
        save_tenant(world.tenant_admin, Tenant(name="mine"))


def test_one_priority_class_is_the_default(world):
    save_priority_class(None, PriorityClass(name="a", value=1, is_default=True))
    save_priority_class(world.admin, PriorityClass(name="b", value=2, is_default=True))
    assert [found.name for found in PriorityClass.objects.filter(is_default=True)] == ["b"]
    with pytest.raises(Forbidden):
        save_priority_class(world.tenant_admin, PriorityClass(name="c", value=3))
