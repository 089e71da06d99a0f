"""Storing samples and mixes, and letting go of old samples."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F, Window
from django.db.models.functions import RowNumber

from muster.common.choices import EventKind
from muster.common.events import fragmentation_topic, record_event
from muster.fragmentation.models import FragmentationSample, LearnedMix
from muster.fragmentation.queries import Bucket

KEPT = dt.timedelta(days=7)
KEPT_WHOLE = dt.timedelta(days=1)
THINNED_TO = dt.timedelta(minutes=10)


@transaction.atomic
def store_sample(cluster_id: int, at: dt.datetime, data: Mapping[str, Any]) -> FragmentationSample:
    """Store what fitted at `at`, and tell the pages that watch."""
    sample = FragmentationSample.objects.create(cluster_id=cluster_id, at=at, data=data)
    record_event(fragmentation_topic(cluster_id), EventKind.FRAGMENTATION, cluster_id)
    return sample


def store_mix(cluster_id: int, at: dt.datetime, tasks: Sequence[Mapping[str, Any]], usable: Sequence[float]) -> None:
    """Replace what was learned of a cluster."""
    told = {"at": at, "tasks": list(tasks), "usable": list(usable)}
    LearnedMix.objects.update_or_create(cluster_id=cluster_id, defaults=told)


def prune_samples(now: dt.datetime) -> int:
    """Delete samples older than a week, and of those older than a day all but one in ten minutes; how many went."""
    gone, _ = FragmentationSample.objects.filter(at__lt=now - KEPT).delete()
    place = Window(RowNumber(), partition_by=[F("cluster_id"), Bucket(F("at"), THINNED_TO)], order_by=F("id").asc())
    old = FragmentationSample.objects.filter(at__lt=now - KEPT_WHOLE).annotate(place=place)
    extra = list(old.filter(place__gt=1).order_by().values_list("pk", flat=True))
    thinned, _ = FragmentationSample.objects.filter(pk__in=extra).delete()
    return gone + thinned
