"""Filters of the pages: figures, times and the arithmetic of bars."""

import json
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.timezone import now

register = template.Library()

CATEGORIES = 12
UNKNOWN = "—"


@register.filter
def category(index: Any) -> int:
    """The colour class of a category, by its number of registration."""
    return int(index or 0) % CATEGORIES


@register.filter
def initials(name: str) -> str:
    words = [w for w in str(name).replace(".", " ").replace("-", " ").replace("_", " ").split() if w]
    letters = [w[0] for w in words[:2]] if len(words) > 1 else [*str(name)[:2]]
    return "".join(letters).upper()


@register.filter
def figure(value: Any) -> Any:
    """A figure with thin spaces between thousands; what is not known is a dash, never 0."""
    if value is None or value == "":
        return UNKNOWN
    return f"{value:,}".replace(",", "\u202f") if isinstance(value, int) else value


@register.filter
def percent(value: Any, whole: Any) -> float:
    """`value` as a percentage of `whole`, within 0 to 100."""
    if not value or not whole:
        return 0.0
    return round(max(0.0, min(100.0, 100.0 * float(value) / float(whole))), 2)


@register.filter
def is_given(value: Any) -> bool:
    """Whether a bar has this mark: 0 is one, nothing is none."""
    return value is not None and value != ""


@register.filter
def excess(value: Any, mark: Any) -> float:
    return max(0.0, float(value or 0) - float(mark or 0))


@register.filter
def spark(values: list[float]) -> str:
    """Points of a sparkline in a box of 100 by 24."""
    if not values:
        return ""
    top, step = max([*values, 1e-9]), 100 / max(1, len(values) - 1)
    return " ".join(f"{i * step:.1f},{23 - 22 * v / top:.1f}" for i, v in enumerate(values))


@register.filter(name="json")
def as_json(value: Any) -> str:
    return json.dumps(value, default=str)


@register.filter
def times(count: Any) -> range:
    return range(int(count))


@register.filter
def duration(value: timedelta | float | None) -> str:
    """Seconds or a timedelta as the two largest units: "3 h 12 min"."""
    if value is None:
        return UNKNOWN
    seconds = int(value.total_seconds() if isinstance(value, timedelta) else value)
    parts = [(seconds // 86400, "d"), (seconds // 3600 % 24, "h"), (seconds // 60 % 60, "min"), (seconds % 60, "s")]
    shown = [f"{n} {unit}" for n, unit in parts if n][:2]
    return " ".join(shown) or "0 s"


@register.filter
def age(moment: datetime | None) -> str:
    return UNKNOWN if moment is None else duration((now() - moment).total_seconds())


@register.filter
def ago(moment: datetime | None) -> str:
    """Relative within a day, with the absolute time on hover; the page keeps it current."""
    if moment is None:
        return UNKNOWN
    passed = now() - moment
    words = moment.strftime("%-d %b %H:%M") if passed > timedelta(days=1) else f"{duration(passed)} ago"
    return format_html(
        '<time datetime="{}" title="{}" data-ago>{}</time>',
        moment.isoformat(),
        moment.strftime("%Y-%m-%d %H:%M:%S %Z"),
        "just now" if passed < timedelta(seconds=5) else words,
    )


@register.filter
def size(value: int | None) -> str:
    """Bytes in binary units: "1.9 TiB"."""
    if value is None:
        return UNKNOWN
    amount = float(value)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024 or unit == "TiB":
            return f"{amount:.0f} {unit}" if amount >= 10 or unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return UNKNOWN


@register.filter
def amount(value: Any) -> str:
    """A number of GPUs: whole where it is, else with what it takes ("0.5")."""
    return UNKNOWN if value is None else f"{float(value):g}"


@register.filter
def cores(milli: int | None) -> str:
    """Thousandths of a core as cores."""
    return UNKNOWN if milli is None else f"{milli / 1000:g}"


@register.filter
def model(flavor: Any) -> str:
    """The model of a flavor, as a job file names it: "H100" of "H100-80GB"."""
    return str(flavor).partition("-")[0]


@register.filter
def runtime(worker: Any) -> str:
    """How long a worker has run, or ran."""
    if worker.started_at is None:
        return UNKNOWN
    return duration((worker.ended_at or now()) - worker.started_at)


@register.filter
def order_of(tenant: int, rows: list[dict[str, Any]]) -> int:
    """A tenant's number of registration among those of the rows: its colour on the map too."""
    return sorted({row["tenant"] for row in rows}).index(tenant)


@register.filter
def place(node: Any, levels: list[str]) -> str:
    """A node's domains, outermost first: "b0 / r2"."""
    return " / ".join(node.domains[level] for level in levels if node.domains.get(level))


@register.filter
def first_line(text: str) -> str:
    """What is said before what is quoted."""
    return str(text).partition("\n")[0]
