"""Pages of a list: by limit and offset with a count, or by cursor without one."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.pagination import BasePagination, CursorPagination, LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

from muster.common.errors import Invalid

DEFAULT_LIMIT, MAX_LIMIT = 50, 1000
EXACT_TO = 10_000  # counting further costs more than it tells; deeper pages go by cursor


class ByOffset(LimitOffsetPagination):
    """`limit` and `offset`. `count` is exact up to 10,000; 10,001 says "more"."""

    default_limit, max_limit = DEFAULT_LIMIT, MAX_LIMIT

    def get_count(self, queryset: Any) -> int:
        """Never the whole table."""
        return queryset.order_by()[: EXACT_TO + 1].count() if isinstance(queryset, QuerySet) else len(queryset)

    def get_offset(self, request: Request) -> int:
        """The offset asked for, refused where only a cursor may go."""
        offset = super().get_offset(request)
        if offset > EXACT_TO:
            raise Invalid(
                f"`offset` goes to {EXACT_TO}; beyond that page by `cursor`.", fields={"offset": ["Too deep."]}
            )
        return offset


class ByCursor(CursorPagination):
    """`cursor` (empty for the first page) and `limit`, in order of id, newest first."""

    page_size, max_page_size, page_size_query_param = DEFAULT_LIMIT, MAX_LIMIT, "limit"
    ordering = "-pk"

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        """By id only: a cursor is a place in an order without ties."""
        asked = request.query_params.get("ordering", "-id")
        if asked not in ("id", "-id"):
            raise Invalid("With `cursor`, `ordering` is id or -id.", fields={"ordering": ["Use id or -id."]})
        return (asked.replace("id", "pk"),)

    def get_paginated_response(self, data: Any) -> Response:
        """The common shape; nothing was counted."""
        return Response(
            {"count": None, "next": self.get_next_link(), "previous": self.get_previous_link(), "results": data}
        )


class Pages(BasePagination):
    """A list is paged by cursor when the request names one."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        """The rows of this page."""
        self._mode = ByCursor() if "cursor" in request.query_params else ByOffset()
        return self._mode.paginate_queryset(queryset, request, view=view)

    def get_paginated_response(self, data: Any) -> Response:
        """`{count, next, previous, results}`."""
        return self._mode.get_paginated_response(data)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """For the OpenAPI description."""
        link = {"type": ["string", "null"], "format": "uri"}
        count = {"type": ["integer", "null"], "description": "exact to 10,000; 10,001 is more; null by cursor"}
        return {
            "type": "object",
            "required": ["count", "next", "previous", "results"],
            "properties": {"count": count, "next": link, "previous": link, "results": schema},
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """For the OpenAPI description: how a list is paged, searched, ordered and cut."""
        orders = [name for order in ("id", *getattr(view, "orders", {})) for name in (order, f"-{order}")]
        parameters = [
            _parameter(
                "limit", {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}, "Rows of a page; 50 without it."
            ),
            _parameter("offset", {"type": "integer", "minimum": 0, "maximum": EXACT_TO}, "Rows before the page."),
            _parameter("cursor", {"type": "string"}, "Page by cursor; empty for the first page."),
            _parameter("ordering", {"type": "string"}, f"One or more, with commas, of {', '.join(orders)}."),
            _parameter("fields", {"type": "string"}, "Only these fields, with commas."),
            _parameter("omit", {"type": "string"}, "All fields but these, with commas."),
        ]
        if getattr(view, "search", ()):
            parameters.append(_parameter("q", {"type": "string"}, "Words, each somewhere in the row's names."))
        return parameters


def _parameter(name: str, schema: dict[str, Any], text: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": text}
