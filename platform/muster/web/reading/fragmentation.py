"""The page of fragmentation: what fits now, what is stranded and why, and how both went over the last hours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict

from muster.clusters.models import Cluster
from muster.common import clock
from muster.fragmentation.models import FragmentationSample
from muster.fragmentation.queries import FRESH, history, latest_sample

STROKES = 48
"""Of the line on the overview: one in half an hour."""
SPANS = {6: "6 hours", 24: "24 hours", 168: "7 days"}
CAUSES = {
    "health": ("unhealthy", "It is broken, or its node is not ready."),
    "cordon": ("cordoned", "Its node takes no new work."),
    "cpu": ("no CPU", "Its node has no cores left for it."),
    "memory": ("no memory", "Its node has no memory left for it."),
    "share": ("rest of a shared GPU", "Too small for anything that is asked for."),
    "nvlink": ("alone", "Every GPU it is joined to by NVLink is in use."),
}


def fragmentation_page(cluster: Cluster, query: QueryDict) -> dict[str, Any]:
    """Everything the page shows."""
    hours = next((span for span in SPANS if query.get("hours") == str(span)), 24)
    sample = latest_sample(cluster.pk)
    spans = [(span, words, span == hours) for span, words in SPANS.items()]
    found = {"sample": sample, "spans": spans, "hours": hours}
    return found if sample is None else found | _shown(sample) | _series(cluster.pk, hours)


def fits_in_short(cluster: Cluster) -> dict[str, Any] | None:
    """What the overview tells: sizes, the most whole nodes together, and a day's line of fragmentation. None before a sample."""
    sample = latest_sample(cluster.pk)
    if sample is None:
        return None
    fits, lost = sample.data["fits"], sample.data["fragmentation"]
    day = history(cluster.pk, 24, clock.now(), points=STROKES)
    levels = [one for one in fits["largest"] if one["level"] not in {"cluster", "nvlink_domain"}]
    return {
        "sizes": fits["sizes"],
        "nearest": levels[-1] if levels else None,
        "percent": None if lost is None else round(100 * lost),
        "day": [100 * point["fragmentation"] for point in day if point["fragmentation"] is not None],
        "is_stale": clock.now() - sample.at > FRESH,
        "at": sample.at,
    }


def _shown(sample: FragmentationSample) -> dict[str, Any]:
    data = sample.data
    fragmentation, needs = data["fragmentation"], data["per_gpu"]
    return {
        "data": data,
        "is_stale": clock.now() - sample.at > FRESH,
        "percent": None if fragmentation is None else _percent(fragmentation),
        "needs": needs if needs["cpu_milli"] or needs["memory_bytes"] else None,
        "sizes": data["fits"]["sizes"],
        "has_nvlink": any(size["joined"] for size in data["fits"]["sizes"][1:]),
        "stranded": [(row, *CAUSES[row["cause"]]) for row in data["stranded"]],
        "causes": [(CAUSES[cause][0], gpus) for cause, gpus in data["stranded_by"].items()],
        **_whole_nodes(data["fits"]),
    }


def _whole_nodes(fits: Mapping[str, Any]) -> dict[str, Any]:
    """A row per number of whole nodes, a column per level: how many such jobs could start."""
    levels = [one["level"] for one in fits["largest"]]
    jobs = {(one["nodes"], one["level"]): one["jobs"] for one in fits["domains"]}
    counts = sorted({nodes for nodes, _ in jobs})
    return {
        "levels": [(level, level_words(level)) for level in levels],
        "node_rows": [(nodes, [jobs.get((nodes, level), 0) for level in levels]) for nodes in counts],
        "largest": [one["nodes"] for one in fits["largest"]],
    }


def level_words(level: str) -> str:
    """Where the nodes of a job would lie."""
    return {"cluster": "anywhere", "nvlink_domain": "one NVLink domain"}.get(level, f"one {level}")


def _series(cluster_id: int, hours: int) -> dict[str, Any]:
    """The two charts: percent, and GPUs. At one instant there is nothing to draw."""
    points = history(cluster_id, hours, clock.now())
    if len(points) < 2:
        return {"has_history": False}
    at = [int(point["at"].timestamp()) for point in points]
    lost = [None if point["fragmentation"] is None else _percent(point["fragmentation"]) for point in points]
    gpus = {"free": "free_gpus", "stranded": "stranded_gpus"}
    return {
        "has_history": True,
        "lost": {"at": at, "series": [{"name": "fragmentation", "values": lost}]},
        "gpus": {
            "at": at,
            "series": [{"name": name, "values": [point[key] for point in points]} for name, key in gpus.items()],
        },
        "jobs": {
            "at": at,
            "series": [
                {"name": f"{size} GPU", "values": [point["fits"].get(size, 0) for point in points]}
                for size in ("4", "8")
            ],
        },
    }


def _percent(part: float) -> float:
    return round(100 * part, 1)
