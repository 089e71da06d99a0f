"""Reading samples: the latest, and a series over hours."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db.models import DateTimeField, DurationField, F, Func, Value, Window
from django.db.models.functions import RowNumber

from muster.fragmentation.models import FragmentationSample

POINTS = 300
"""At most so many in a series: more than a chart has pixels for is of no use."""
FRESH = dt.timedelta(minutes=2)
"""Samples come every 30 s; one that is older was the last for some reason."""
_EPOCH = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)


class Bucket(Func):
    """`date_bin`: the beginning of the stretch of time, of that width, that an instant falls into."""

    function = "date_bin"
    output_field = DateTimeField()

    def __init__(self, at: F, width: dt.timedelta) -> None:
        super().__init__(Value(width, output_field=DurationField()), at, Value(_EPOCH, output_field=DateTimeField()))


def latest_sample(cluster_id: int) -> FragmentationSample | None:
    """What fitted when it was last looked at."""
    return FragmentationSample.objects.filter(cluster_id=cluster_id).order_by("-at").first()


def history(cluster_id: int, hours: int, now: dt.datetime, *, points: int = POINTS) -> list[dict[str, Any]]:
    """The figures over the last hours, oldest first: the last sample of each of so many stretches of time."""
    span = dt.timedelta(hours=hours)
    place = Window(RowNumber(), partition_by=[Bucket(F("at"), span / points)], order_by=F("at").desc())
    within = FragmentationSample.objects.filter(cluster_id=cluster_id, at__gt=now - span)
    # The keys first: taking every sample's data apart to throw nine in ten away would cost most of the time.
    keys = list(within.annotate(place=place).filter(place=1).order_by().values_list("pk", flat=True))
    rows = FragmentationSample.objects.filter(pk__in=keys).order_by("at")
    columns = ("data__fragmentation", "data__free_gpus", "data__free_whole_nodes", "data__stranded_gpus", "data__fits")
    return [_point(*row) for row in rows.values_list("at", *columns)]


def _point(
    at: dt.datetime, fragmentation: float | None, free_gpus: float, free_whole_nodes: int, *rest: Any
) -> dict[str, Any]:
    stranded_gpus, fits = rest
    return {
        "at": at,
        "fragmentation": fragmentation,
        "free_gpus": free_gpus,
        "free_whole_nodes": free_whole_nodes,
        "stranded_gpus": stranded_gpus,
        "fits": {str(size["gpus"]): size["jobs"] for size in fits["sizes"]},
    }
