"""Fragmentation as JSON."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

Fields = serializers.Serializer[Any]


class SizeSerializer(Fields):
    """Workers of one size on one node."""

    gpus = serializers.IntegerField()
    jobs = serializers.IntegerField(help_text="how many could start now, if they came alone")
    joined = serializers.IntegerField(help_text="of them with all their GPUs joined by NVLink")


class DomainSerializer(Fields):
    """Jobs of whole nodes in one domain of a level; `cluster` is all nodes together."""

    level = serializers.CharField()
    nodes = serializers.IntegerField()
    jobs = serializers.IntegerField()


class FitsSerializer(Fields):
    """What could start now, each size as if it came alone."""

    sizes = SizeSerializer(many=True)
    largest_gpus = serializers.IntegerField(help_text="most GPUs of one node that one worker could have")
    domains = DomainSerializer(many=True)
    largest = DomainSerializer(many=True, help_text="per level the most whole nodes that are free in one domain")


class StrandedSerializer(Fields):
    """Free GPUs of a node that nobody can use."""

    node = serializers.IntegerField()
    name = serializers.CharField()
    gpus = serializers.FloatField()
    cause = serializers.CharField()


class NeedsSerializer(Fields):
    """What is counted with each GPU; a GPU without it is of no use."""

    cpu_milli = serializers.IntegerField()
    memory_bytes = serializers.IntegerField()


class MeasuredSerializer(Fields):
    """How broken up the free GPUs are."""

    at = serializers.DateTimeField()
    free_gpus = serializers.FloatField()
    free_whole_nodes = serializers.IntegerField()
    fragmentation = serializers.FloatField(
        allow_null=True, help_text="part of the free GPUs that the mix cannot use, 0 to 1; null: nothing is free"
    )
    stranded_gpus = serializers.FloatField()
    fits = FitsSerializer()
    stranded = StrandedSerializer(many=True, help_text="the largest 200")
    stranded_by = serializers.DictField(child=serializers.FloatField(), help_text="GPUs per cause, over all nodes")
    per_gpu = NeedsSerializer()
    mix_from = serializers.ChoiceField(choices=["learned", "present", "given"], help_text="where the mix is from")


class PointSerializer(Fields):
    """The figures at one instant."""

    at = serializers.DateTimeField()
    fragmentation = serializers.FloatField(allow_null=True)
    free_gpus = serializers.FloatField()
    free_whole_nodes = serializers.IntegerField()
    stranded_gpus = serializers.FloatField()
    fits = serializers.DictField(child=serializers.IntegerField(), help_text="GPUs of a worker to how many fitted")


class HistorySerializer(Fields):
    """A series, oldest first."""

    hours = serializers.IntegerField()
    points = PointSerializer(many=True)


class HistoryQuery(Fields):
    """How far back."""

    hours = serializers.IntegerField(default=24, min_value=1, max_value=168)


class FitsQuery(Fields):
    """What comes with each GPU; not told: what three in four workers of the mix ask at least."""

    cpu_milli = serializers.IntegerField(required=False, min_value=0, max_value=1_000_000)
    memory_bytes = serializers.IntegerField(required=False, min_value=0, max_value=1 << 50)
