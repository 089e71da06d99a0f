"""Clusters, node pools, nodes and flavors."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from muster.clusters.actions import delete_pool, save_cluster, save_flavor, save_pool
from muster.clusters.levels import BY_NAME, PRESETS
from muster.clusters.models import Cluster, Flavor, Gpu, Node, NodePool
from muster.common.admin import ActionAdmin, ReadOnlyAdmin, ReadOnlyInline


class ClusterForm(forms.ModelForm):
    """A cluster's settings. The kubeconfig goes in and never comes out."""

    kubeconfig = forms.CharField(
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 8, "autocomplete": "off", "spellcheck": "false"}),
        help_text="Paste one to store it encrypted, or to replace the stored one. It is never shown again.",
    )
    preset = forms.ChoiceField(
        required=False,
        choices=[("", "Keep the levels below"), *((one.name, one.title) for one in PRESETS)],
        widget=UnfoldAdminSelectWidget(),
        help_text="Whose labels the nodes carry. A choice replaces levels and NVLink label when you save.",
    )

    class Meta:
        model = Cluster
        fields = (
            "name",
            "title",
            "connection",
            "kubeconfig_path",
            "levels",
            "nvlink_label",
            "profile",
            "scheduler_name",
            "enabled",
        )
        labels = {"nvlink_label": "NVLink label"}
        help_texts = {
            "levels": "Network levels, far to near, each with the node label that names a node's domain. "
            "`host` is always the nearest and is not listed.",
            "profile": "What decides differently from the default: placement, backfill, preemption, bandwidths, or the "
            "plugins of an extension point. `{}` is the default profile.",
        }

    def clean(self) -> dict[str, Any]:
        """A preset stands for what it fills in."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if preset := BY_NAME.get(cleaned.get("preset", "")):
            cleaned |= {"levels": preset.as_levels(), "nvlink_label": preset.nvlink_label}
        # Emptied, a field of JSON is null; here it is an empty list or mapping.
        return cleaned | {"levels": cleaned.get("levels") or [], "profile": cleaned.get("profile") or {}}


@admin.register(Cluster)
class ClusterAdmin(ActionAdmin):
    """The clusters that jobs run in."""

    form = ClusterForm
    list_display = ("name", "title", "enabled", "is_reachable", "message")
    list_select_related = ("status",)

    @admin.display(boolean=True)
    def is_reachable(self, cluster: Cluster) -> bool | None:
        """As the informer last saw it."""
        status = getattr(cluster, "status", None)
        return status.is_reachable if status else None

    def message(self, cluster: Cluster) -> str:
        """The client's words when it is not reachable."""
        status = getattr(cluster, "status", None)
        return status.message if status else ""

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        """`kubeconfig` and `preset` are no columns, so the model's form would not know them by its fields."""
        return super().get_form(request, obj, change=change, **(options | {"fields": None}))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        columns = list(ClusterForm.Meta.fields)
        columns.insert(columns.index("levels"), "preset")
        return (*columns, "kubeconfig")

    def store(self, actor: Any, row: Cluster, form: Any) -> None:
        save_cluster(actor, row, kubeconfig=form.cleaned_data.get("kubeconfig", ""))


class NodePoolForm(forms.ModelForm):
    """A pool's settings, with room for a matrix."""

    class Meta:
        model = NodePool
        fields = ("cluster", "name", "order", "selector", "binding", "sharing", "topology")
        widgets = {
            "topology": UnfoldAdminTextareaWidget(
                attrs={"rows": 14, "spellcheck": "false", "wrap": "off", "class": "font-mono"}
            )
        }
        help_texts = {
            "selector": "Labels that a node of this pool carries, for example "
            '{"node.kubernetes.io/instance-type": "p4d.24xlarge"} for one machine type; {} matches every node.',
            "topology": "Paste what `nvidia-smi topo -m` prints on one of its nodes. It tells how the GPUs are wired where the "
            "nodes themselves (DRA, node agent, labels) do not, on nodes with as many GPUs.",
        }


@admin.register(NodePool)
class NodePoolAdmin(ActionAdmin):
    """Nodes that are treated alike."""

    form = NodePoolForm
    list_display = ("name", "cluster", "order", "binding", "sharing")
    list_filter = ("cluster",)
    may_delete = True

    def store(self, actor: Any, row: NodePool, form: Any) -> None:
        save_pool(actor, row)

    def remove(self, actor: Any, row: NodePool) -> None:
        delete_pool(actor, row)


class GpuInline(ReadOnlyInline):
    """The node's GPUs as they were seen."""

    model = Gpu
    fields = ("index", "flavor", "uuid", "numa", "switch", "health", "health_reason")


@admin.register(Node)
class NodeAdmin(ReadOnlyAdmin):
    """The machines, as the informer sees them."""

    list_display = ("name", "cluster", "pool", "shape", "ready", "cordoned", "present")
    list_filter = ("cluster", "pool", "ready", "cordoned", "present")
    search_fields = ("name",)
    list_select_related = ("cluster", "pool", "shape")
    inlines = (GpuInline,)


@admin.register(Flavor)
class FlavorAdmin(ActionAdmin):
    """GPU models."""

    list_display = ("name", "vendor", "memory_bytes", "compute_capability", "price_per_hour")
    search_fields = ("name",)

    def store(self, actor: Any, row: Flavor, form: Any) -> None:
        save_flavor(actor, row)
