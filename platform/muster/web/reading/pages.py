"""Pages of long lists by cursor: the next page begins after the last row seen, however deep, and never counts."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Q, QuerySet
from django.http import QueryDict

SIZE = 50
COUNTED = 10_000


@dataclass(frozen=True)
class Page:
    """Rows of one page and the addresses of its neighbours (queries, None at the ends)."""

    rows: list[Any]
    previous: str | None
    next: str | None
    total: str


def encode(value: Any, pk: int) -> str:
    """A cursor: the ordering value and the id of the row it stands at."""
    return base64.urlsafe_b64encode(json.dumps([value, pk], default=str).encode()).decode().rstrip("=")


def decode(cursor: str) -> tuple[Any, int] | None:
    """What `encode` was given; None for what is no cursor."""
    try:
        value, pk = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return value, int(pk)
    except (ValueError, TypeError, binascii.Error):
        return None


def read_page(rows: QuerySet[Any], query: QueryDict, *, field: str, descending: bool) -> Page:
    """The page that `query` asks for by `after` or `before`; rows are ordered by `field` (never null), then by id."""
    cursor = decode(query.get("after") or query.get("before") or "")
    is_back = "before" in query and cursor is not None
    down = descending != is_back
    found = rows.annotate(_at=F(field)).order_by("-_at" if down else "_at", "-pk" if down else "pk")
    if cursor is not None:
        value, pk = cursor
        beyond = "lt" if down else "gt"
        found = found.filter(Q(**{f"_at__{beyond}": value}) | Q(_at=value, **{f"pk__{beyond}": pk}))
    shown = list(found[: SIZE + 1])
    has_more = len(shown) > SIZE
    shown = shown[:SIZE]
    if is_back:
        shown.reverse()
    has_previous = has_more if is_back else cursor is not None
    has_next = True if is_back else has_more
    return Page(
        shown,
        _address(query, "before", shown[0]) if shown and has_previous else None,
        _address(query, "after", shown[-1]) if shown and has_next else None,
        _total(rows),
    )


def _address(query: QueryDict, side: str, row: Any) -> str:
    copy = query.copy()
    for name in ("after", "before"):
        copy.pop(name, None)
    copy[side] = encode(row._at, row.pk)
    return "?" + copy.urlencode()


def _total(rows: QuerySet[Any]) -> str:
    """Exact to 10,000; beyond, counting costs more than it tells."""
    count = rows.order_by()[: COUNTED + 1].count()
    return f"more than {COUNTED:,}".replace(",", " ") if count > COUNTED else str(count)


def base_of(query: QueryDict, *without: str) -> str:
    """The query without these names and cursors, ready for another name to be added."""
    copy = query.copy()
    for name in (*without, "after", "before"):
        copy.pop(name, None)
    return f"?{copy.urlencode()}&" if copy else "?"
