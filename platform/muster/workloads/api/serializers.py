"""Jobs and queues as JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from muster.accounts.api.serializers import VERBS as TENANT_VERBS
from muster.common.api.serializers import RowSerializer
from muster.quotas.models import Queue, Quota
from muster.workloads.models import Job, JobEvent
from muster.workloads.placed import placement_of
from muster.workloads.queries import dependencies_of, job_verbs, warnings_of

VERBS = ["clone", "hold", "release", "priority", "cancel"]


class WorkersSerializer(serializers.Serializer[Any]):
    """How many workers run, of how many."""

    ready = serializers.IntegerField()
    wanted = serializers.IntegerField()


class JobSerializer(RowSerializer[Job]):
    """A job as a list shows it."""

    tenant = serializers.CharField(source="tenant.name", read_only=True)
    queue = serializers.CharField(source="queue.full_name", read_only=True)
    cluster = serializers.CharField(source="cluster.name", read_only=True)
    owner = serializers.CharField(source="owner.username", read_only=True)
    priority_class = serializers.CharField(source="priority_class.name", default=None, allow_null=True, read_only=True)
    workers = serializers.SerializerMethodField()
    gpus = serializers.DecimalField(
        source="gpus_wanted", max_digits=12, decimal_places=3, coerce_to_string=False, read_only=True
    )
    capabilities = serializers.SerializerMethodField()

    class Meta:
        model = Job
        fields: tuple[str, ...] = (
            "id",
            "name",
            "tenant",
            "queue",
            "cluster",
            "owner",
            "kind",
            "state",
            "state_cause",
            "state_message",
            "priority",
            "priority_class",
            "workers",
            "gpus",
            "submitted_at",
            "not_before",
            "started_at",
            "ended_at",
            "walltime_seconds",
            "retries",
            "capabilities",
        )

    @extend_schema_field(WorkersSerializer)
    def get_workers(self, job: Job) -> dict[str, int]:
        """Those of the live attempt."""
        return {"ready": getattr(job, "workers_ready", 0), "wanted": job.workers_wanted}

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(choices=VERBS)))
    def get_capabilities(self, job: Job) -> list[str]:
        """What the reader may do to it now."""
        return job_verbs(self.reader, job)


class DependencySerializer(serializers.Serializer[Any]):
    """A job that must have succeeded first."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.CharField()
    dependency = serializers.ChoiceField(choices=["met", "open", "failed"])


class BottleneckSerializer(serializers.Serializer[Any]):
    """The slowest border that a ring over the workers crosses."""

    level = serializers.CharField(help_text="a level, `host` between nodes, or a link class within a node")
    gigabytes = serializers.FloatField(help_text="GB/s for each GPU")
    source = serializers.ChoiceField(choices=["nominal", "measured"])  # type: ignore[assignment]
    message = serializers.CharField()


class ShortfallSerializer(serializers.Serializer[Any]):
    """Something that was preferred and not to be had."""

    role = serializers.CharField(allow_blank=True, help_text="empty: the gang as a whole")
    wanted = serializers.CharField(help_text="a link class, or a level")
    gpus = serializers.IntegerField()
    nodes = serializers.IntegerField()
    quality = serializers.IntegerField()
    message = serializers.CharField()


class PlacementSerializer(serializers.Serializer[Any]):
    """How an attempt was placed."""

    attempt = serializers.IntegerField()
    quality = serializers.IntegerField(
        help_text="of the worst worker: 100 NVLink, 85 PCIe switch, 75 NUMA node, 60 across"
    )
    bottleneck = BottleneckSerializer(allow_null=True)
    shortfalls = ShortfallSerializer(many=True)


class JobDetailSerializer(JobSerializer):
    """One job, with its canonical form and its file as sent."""

    spec = serializers.DictField(read_only=True)
    after = serializers.SerializerMethodField()
    warnings = serializers.SerializerMethodField()
    placement = serializers.SerializerMethodField()

    class Meta(JobSerializer.Meta):
        fields = (*JobSerializer.Meta.fields, "spec", "source", "after", "warnings", "placement")

    @extend_schema_field(PlacementSerializer(allow_null=True))
    def get_placement(self, job: Job) -> dict[str, Any] | None:
        """How its latest attempt was placed; null before the first."""
        return placement_of(job)

    @extend_schema_field(DependencySerializer(many=True))
    def get_after(self, job: Job) -> list[dict[str, Any]]:
        """The jobs it waits for."""
        return [
            {"id": after.pk, "name": after.name, "state": after.state, "dependency": dependency}
            for after, dependency in dependencies_of(job)
        ]

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_warnings(self, job: Job) -> list[str]:
        """What was said against it when it was submitted."""
        return warnings_of(job)


class JobEventSerializer(serializers.ModelSerializer[JobEvent]):
    """What happened to a job."""

    actor = serializers.CharField(source="actor.username", default=None, allow_null=True, read_only=True)

    class Meta:
        model = JobEvent
        fields = ("id", "at", "kind", "message", "actor", "detail")


class FindingSerializer(serializers.Serializer[Any]):
    """What would become of a job now."""

    can_run = serializers.BooleanField(help_text="on the cluster with nobody on it")
    nodes = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="where it would start at once, with the workers there; empty: it would wait",
    )
    reason = serializers.CharField(allow_blank=True)
    message = serializers.CharField(allow_blank=True)


class DraftSerializer(serializers.Serializer[Any]):
    """What `dry_run` answers: the form the job would be stored in, and what is to be said against it."""

    spec = serializers.DictField()
    gpus = serializers.DecimalField(source="gpus_wanted", max_digits=12, decimal_places=3, coerce_to_string=False)
    warnings = serializers.ListField(child=serializers.CharField())
    preview = FindingSerializer(allow_null=True, help_text="null where nobody answered within 2 s")


class PrioritySerializer(serializers.Serializer[Any]):
    """Another priority."""

    priority = serializers.CharField(max_length=42, help_text="the name of a priority class, or a whole number")

    def validate_priority(self, value: str) -> int | str:
        """A number where it is one."""
        return int(value) if value.removeprefix("-").isdecimal() and len(value) < 8 else value


class QuotaSerializer(serializers.ModelSerializer[Quota]):
    """What a queue gets of one resource in one cluster."""

    cluster = serializers.CharField(source="cluster.name", read_only=True)

    class Meta:
        model = Quota
        fields = ("cluster", "resource", "guaranteed", "limit", "borrow", "lend", "weight")


class QueueTotalsSerializer(serializers.Serializer[Any]):
    """The queue's jobs in sum."""

    waiting = serializers.IntegerField()
    active = serializers.IntegerField()
    gpus_used = serializers.DecimalField(max_digits=14, decimal_places=3, coerce_to_string=False)


class QueueSerializer(RowSerializer[Queue]):
    """A queue with its quotas and totals: what every member of any tenant may see."""

    tenant = serializers.CharField(source="tenant.name", read_only=True)
    full_name = serializers.CharField(read_only=True)
    parent = serializers.CharField(source="parent.name", default=None, allow_null=True, read_only=True)  # type: ignore[assignment]
    quotas = QuotaSerializer(many=True, read_only=True)
    totals = serializers.SerializerMethodField()
    capabilities = serializers.SerializerMethodField()

    class Meta:
        model = Queue
        fields = (
            "id",
            "name",
            "full_name",
            "tenant",
            "parent",
            "priority",
            "preempt_within",
            "reclaim",
            "quotas",
            "totals",
            "capabilities",
        )

    @extend_schema_field(QueueTotalsSerializer)
    def get_totals(self, queue: Queue) -> dict[str, Any]:
        """Of its jobs, and those of the queues below it."""
        return dict(QueueTotalsSerializer(self.context["totals"][queue.pk]).data)

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(choices=TENANT_VERBS)))
    def get_capabilities(self, queue: Queue) -> list[str]:
        """What the reader may do with it."""
        may = {"submit": self.reader.can_submit(queue.tenant_id), "manage": self.reader.can_manage(queue.tenant_id)}
        return [verb for verb, allowed in may.items() if allowed]
