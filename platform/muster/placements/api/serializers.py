"""Workers, devices, verdicts and orders as JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from muster.placements.models import DeviceHold, NodeOrder
from muster.workloads.models import Worker

BULK_VERBS = ["cancel", "hold", "release", "priority"]


class DeviceSerializer(serializers.ModelSerializer[DeviceHold]):
    """A device that a worker has: all of a GPU, a part of one, or a network card."""

    index = serializers.SerializerMethodField()
    uuid = serializers.CharField(source="gpu.uuid", default=None, allow_null=True, read_only=True)
    flavor = serializers.CharField(source="gpu.flavor.name", default=None, allow_null=True, read_only=True)

    class Meta:
        model = DeviceHold
        fields = ("kind", "index", "uuid", "flavor", "milli", "profile", "state", "is_observed", "since", "until")

    @extend_schema_field(serializers.IntegerField())
    def get_index(self, hold: DeviceHold) -> int:
        """Of the GPU, or of the card."""
        device = hold.gpu or hold.nic
        assert device is not None
        return device.index


class WorkerSerializer(serializers.ModelSerializer[Worker]):
    """One pod of a job with where it runs and what it has."""

    name = serializers.SerializerMethodField()
    attempt = serializers.IntegerField(source="attempt.number", read_only=True)
    role = serializers.CharField(source="role.name", read_only=True)
    node = serializers.CharField(source="node.name", default=None, allow_null=True, read_only=True)
    devices = DeviceSerializer(many=True, read_only=True)

    class Meta:
        model = Worker
        fields = (
            "id",
            "name",
            "attempt",
            "role",
            "index",
            "rank",
            "node",
            "devices",
            "pod_name",
            "phase",
            "exit_code",
            "reason",
            "message",
            "last_lines",
            "note",
            "started_at",
            "ended_at",
        )

    @extend_schema_field(serializers.CharField())
    def get_name(self, worker: Worker) -> str:
        """`worker-0`, as scenarios and log addresses name it."""
        return f"{worker.role.name}-{worker.index}"


class VerdictSerializer(serializers.Serializer[Any]):
    """Why a job waits; `reason` null where it does not, or where no cycle has tried it yet."""

    reason = serializers.CharField(allow_null=True)
    message = serializers.CharField(allow_blank=True)
    facts = serializers.DictField(help_text="the figures of the message, by name")
    funnel = serializers.ListField(child=serializers.DictField(), help_text="nodes left after each filter")
    helps = serializers.ListField(help_text="what would let it start")
    since = serializers.DateTimeField(allow_null=True)
    starts_at = serializers.DateTimeField(allow_null=True, help_text="its reserved start")
    position = serializers.IntegerField(allow_null=True, help_text="in its queue, from 1")


class BulkSerializer(serializers.Serializer[Any]):
    """One verb for many jobs: done to all of them or to none."""

    verb = serializers.ChoiceField(choices=BULK_VERBS)
    ids = serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=1, max_length=1000)
    priority = serializers.CharField(max_length=42, required=False, help_text="with the verb `priority`")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Only one verb takes a value."""
        if (attrs["verb"] == "priority") != ("priority" in attrs):
            raise serializers.ValidationError({"priority": ["It belongs to the verb `priority`, which needs it."]})
        return attrs


class NodeOrderSerializer(serializers.ModelSerializer[NodeOrder]):
    """An order to a node; the node itself changes when the cluster shows it."""

    node = serializers.CharField(source="node.name", read_only=True)

    class Meta:
        model = NodeOrder
        fields = ("id", "node", "verb", "state", "created_at")
