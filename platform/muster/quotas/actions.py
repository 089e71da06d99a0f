"""Every write to tenants, queues, quotas and priority classes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from django.db import transaction
from django.db.models import F

from muster.accounts.actions import set_member
from muster.accounts.choices import Role
from muster.accounts.models import Tenant
from muster.accounts.standing import standing_of
from muster.audit import actions as audit
from muster.clusters.actions import must_administer
from muster.clusters.models import Cluster
from muster.common.choices import ChangeKind, EventKind
from muster.common.errors import Invalid
from muster.common.events import queues_topic, record_change, record_event
from muster.common.validation import validate
from muster.quotas.checks import check_quotas
from muster.quotas.errors import NotTheirAdmin, QueueInUse
from muster.quotas.models import PriorityClass, Queue, Quota


@transaction.atomic
def save_tenant(actor: Any, tenant: Tenant, *, admin: Any = None) -> Tenant:
    """Store a tenant; a new one gets its top queue and, if named, its first admin."""
    must_administer(actor)
    created = tenant.pk is None
    tenant.namespace = tenant.namespace or tenant.name
    validate(tenant)
    tenant.save()
    if created:
        save_queue(actor, Queue(tenant=tenant, name=tenant.name))
    if admin is not None:
        set_member(actor, tenant, admin, Role.ADMIN)
    audit.record(actor, "tenant.create" if created else "tenant.update", tenant, tenant_id=tenant.pk, name=tenant.name)
    return tenant


@transaction.atomic
def save_queue(actor: Any, queue: Queue) -> Queue:
    """Store a new or changed queue."""
    _must_manage(actor, queue)
    created = queue.pk is None
    _check_place(queue)
    validate(queue)
    if not created:
        queue.sched_rev = Queue.objects.select_for_update().get(pk=queue.pk).sched_rev + 1
    queue.save()
    verb = "queue.create" if created else "queue.update"
    audit.record(actor, verb, queue, tenant_id=queue.tenant_id, name=queue.full_name)
    _publish([queue.pk])
    return queue


def _check_place(queue: Queue) -> None:
    """A queue lies in its tenant's tree, and a queue with jobs cannot become a parent."""
    parent = queue.parent
    if parent is None:
        if Queue.objects.filter(tenant=queue.tenant, parent=None).exclude(pk=queue.pk).exists():
            raise Invalid("Each tenant has one top queue.", fields={"parent": ["Choose the queue it lies under."]})
        return
    if parent.tenant_id != queue.tenant_id:
        raise Invalid("A queue lies under its own tenant's.", fields={"parent": ["It is another tenant's queue."]})
    if parent.jobs.filter(ended_at=None).exists():
        raise QueueInUse(f"`{parent.name}` has jobs; only a queue without jobs can get queues below it.")


@transaction.atomic
def delete_queue(actor: Any, queue: Queue) -> None:
    """Delete a queue that never had a job and has no queue below it."""
    _must_manage(actor, queue)
    if queue.jobs.exists():
        raise QueueInUse(f"`{queue.name}` has jobs, and their history names it.")
    if queue.children.exists():
        raise QueueInUse(f"`{queue.name}` has queues below it.")
    audit.record(actor, "queue.delete", queue, tenant_id=queue.tenant_id, name=queue.full_name)
    _publish([queue.pk], gone=True)
    queue.delete()


@transaction.atomic
def set_quotas(actor: Any, cluster: Cluster, quotas: Iterable[Quota], *, gone: Collection[int] = ()) -> list[Quota]:
    """Store these quotas of one cluster and delete those with the ids in `gone`; checked as a whole before anything counts."""
    saved = list(quotas)
    removed = list(Quota.objects.filter(cluster=cluster, pk__in=gone))
    queue_ids = {quota.queue_id for quota in [*saved, *removed]}
    queues = {queue.pk: queue for queue in Queue.objects.select_for_update().filter(pk__in=queue_ids).order_by("pk")}
    for queue in queues.values():
        _must_manage_quota(actor, queue)
    Quota.objects.filter(pk__in=[quota.pk for quota in removed]).delete()
    for quota in saved:
        quota.cluster = cluster
        validate(quota)
        quota.save()
    check_quotas(cluster)
    Queue.objects.filter(pk__in=queue_ids).update(sched_rev=F("sched_rev") + 1)
    for quota in saved:
        audit.record(actor, "quota.set", quota, tenant_id=queues[quota.queue_id].tenant_id, **_figures(quota))
    for quota in removed:
        audit.record(
            actor,
            "quota.delete",
            queues[quota.queue_id],
            tenant_id=queues[quota.queue_id].tenant_id,
            resource=quota.resource,
        )
    _publish(queue_ids, clusters=[cluster.pk])
    return saved


def _figures(quota: Quota) -> dict[str, Any]:
    names = ("resource", "guaranteed", "limit", "borrow", "lend", "weight")
    return {"queue": quota.queue.full_name, "cluster": quota.cluster.name} | {
        name: getattr(quota, name) for name in names
    }


@transaction.atomic
def save_priority_class(actor: Any, priority: PriorityClass) -> PriorityClass:
    """Store a priority class. Jobs keep the number they were submitted with."""
    must_administer(actor)
    created = priority.pk is None
    if priority.is_default:
        PriorityClass.objects.filter(is_default=True).exclude(pk=priority.pk).update(is_default=False)
    validate(priority)
    priority.save()
    audit.record(actor, "priority.create" if created else "priority.update", priority, name=priority.name)
    return priority


def _must_manage(actor: Any, queue: Queue) -> None:
    if actor is not None and not standing_of(actor).can_manage(queue.tenant_id):
        raise NotTheirAdmin


def _must_manage_quota(actor: Any, queue: Queue) -> None:
    """A tenant's admin divides what the tenant has; what it has as a whole is the platform's to say."""
    if queue.parent_id is None:
        must_administer(actor)
    else:
        _must_manage(actor, queue)


def _publish(queue_ids: Collection[int], *, clusters: Collection[int] | None = None, gone: bool = False) -> None:
    """Tell every cluster's scheduler and pages (queues are shared by all clusters), or those named."""
    for cluster_id in Cluster.objects.values_list("pk", flat=True) if clusters is None else clusters:
        for queue_id in sorted(queue_ids):
            record_change(cluster_id, ChangeKind.QUEUE, queue_id)
            record_event(queues_topic(cluster_id), EventKind.QUEUE, queue_id, gone=gone)
