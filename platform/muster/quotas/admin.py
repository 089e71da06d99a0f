"""Tenants with their members, queues with their quotas, priority classes."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.forms import BaseInlineFormSet
from django.http import HttpRequest
from unfold.admin import TabularInline

from muster.accounts.actions import remove_member, set_member
from muster.accounts.models import Membership, Tenant
from muster.clusters.models import Cluster
from muster.common.admin import ActionAdmin, PlatformAdminsOnly, refusal
from muster.quotas.actions import delete_queue, save_priority_class, save_queue, save_tenant, set_quotas
from muster.quotas.models import PriorityClass, Queue, Quota


class TriedFormSet(BaseInlineFormSet):
    """Rows below another that are checked as a whole, by trying the action that would store them."""

    actor: Any = None

    def clean(self) -> None:
        """Valid is what the action accepts."""
        super().clean()
        if any(form.errors for form in self.forms):
            return
        error = refusal(self.store)
        if error is not None:
            raise ValidationError([text for texts in error.fields.values() for text in texts] or [error.message])

    def store(self) -> None:
        """Store what was changed and delete what was marked, by actions."""
        raise NotImplementedError

    def changed(self) -> list[Any]:
        """The rows as the form has them, without those that are to go."""
        return [form.instance for form in self.forms if form.has_changed() and form not in self.deleted_forms]

    def gone(self) -> list[Any]:
        """The rows that are to go."""
        return [form.instance for form in self.deleted_forms if form.instance.pk]


class TriedInline(PlatformAdminsOnly, TabularInline):
    """Rows that an action stores; they can be added once what they belong to exists."""

    extra = 0
    may_delete = True

    def get_formset(self, request: HttpRequest, obj: Any = None, **options: Any) -> Any:
        """Knows who is at work."""
        formset = super().get_formset(request, obj, **options)
        formset.actor = request.user
        return formset


class WithTriedInlines(ActionAdmin):
    """Shows its inlines on rows that exist, and stores them by their own actions."""

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return self.inlines if obj else ()

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """For good. Django wants to know what was done, for its own log."""
        formset.new_objects, formset.changed_objects, formset.deleted_objects = [], [], []
        formset.store()


class MemberFormSet(TriedFormSet):
    """The members of a tenant."""

    def store(self) -> None:
        for membership in self.changed():
            set_member(self.actor, self.instance, membership.user, membership.role)
        for membership in self.gone():
            remove_member(self.actor, Membership.objects.get(pk=membership.pk))


class MemberInline(TriedInline):
    """Who is in the tenant."""

    model, formset = Membership, MemberFormSet
    autocomplete_fields = ("user",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ()


@admin.register(Tenant)
class TenantAdmin(WithTriedInlines):
    """Who pays and is isolated. A new tenant gets its top queue."""

    list_display = ("name", "title", "namespace")
    search_fields = ("name", "title")
    inlines = (MemberInline,)

    def store(self, actor: Any, row: Tenant, form: Any) -> None:
        save_tenant(actor, row)


class QuotaFormSet(TriedFormSet):
    """A queue's quotas in every cluster, checked against the whole tree."""

    def store(self) -> None:
        rows: dict[int, tuple[list[Quota], list[int]]] = defaultdict(lambda: ([], []))
        for quota in self.changed():
            quota.queue = self.instance
            rows[quota.cluster_id][0].append(quota)
        for quota in self.gone():
            rows[quota.cluster_id][1].append(quota.pk)
        for cluster in Cluster.objects.filter(pk__in=rows):
            saved, gone = rows[cluster.pk]
            set_quotas(self.actor, cluster, saved, gone=gone)


class QuotaInline(TriedInline):
    """One row per cluster and resource: `gpu`, `cpu` (thousandths), `memory` (bytes) or `gpu/FLAVOR`."""

    model, formset = Quota, QuotaFormSet
    fields = ("cluster", "resource", "guaranteed", "limit", "borrow", "lend", "weight")


@admin.register(Queue)
class QueueAdmin(WithTriedInlines):
    """The tree of queues."""

    list_display = ("indented_name", "tenant", "priority", "preempt_within", "reclaim")
    list_filter = ("tenant",)
    search_fields = ("name", "tenant__name")
    list_select_related = ("tenant",)
    fields = ("tenant", "parent", "name", "priority", "preempt_within", "reclaim")
    inlines = (QuotaInline,)
    may_delete = True

    def get_queryset(self, request: HttpRequest) -> Any:
        """In the order of the tree."""
        return Queue.objects.with_tree_fields().select_related("tenant")

    @admin.display(description="queue")
    def indented_name(self, queue: Any) -> str:
        """Deeper queues further right."""
        return "\u2003" * queue.tree_depth + queue.name

    def store(self, actor: Any, row: Queue, form: Any) -> None:
        save_queue(actor, row)

    def remove(self, actor: Any, row: Queue) -> None:
        delete_queue(actor, row)


@admin.register(PriorityClass)
class PriorityClassAdmin(ActionAdmin):
    """Named priorities."""

    list_display = ("name", "value", "is_default", "may_preempt")
    left_to_action = frozenset({"is_default"})

    def store(self, actor: Any, row: PriorityClass, form: Any) -> None:
        save_priority_class(actor, row)
