"""Bases of views. An app's view names its rows, serializer and filters; the rest is here."""

from __future__ import annotations

import difflib
from typing import Any, ClassVar

from django.db.models import Q, QuerySet
from rest_framework import mixins, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from muster.common.api.etags import etag_of, is_known, must_match
from muster.common.errors import Invalid

LIST_PARAMETERS = frozenset({"limit", "offset", "cursor", "fields", "omit", "ordering", "q", "format"})


class RowsView(mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[Any]):
    """Lists and shows rows that the reader may see.

    `search` are the columns that `q` looks into, `orders` maps names that `ordering` takes to columns.
    """

    search: ClassVar[tuple[str, ...]] = ()
    orders: ClassVar[dict[str, str]] = {}
    lookup_value_regex = "[0-9]+"

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One page."""
        self._refuse_unknown(request)
        return super().list(request, *args, **kwargs)

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One object with its version; 304 for whoever has it."""
        row = self.get_object()
        etag = self.etag(row)
        if is_known(request, etag):
            return Response(status=status.HTTP_304_NOT_MODIFIED, headers={"ETag": etag})
        return Response(self.get_serializer(row).data, headers={"ETag": etag})

    def etag(self, row: Any) -> str:
        """The version of an object: of all its fields, whichever were asked for."""
        serializer = self.get_serializer_class()
        return etag_of(serializer(row, context={**self.get_serializer_context(), "whole": True}).data)

    def must_match(self, row: Any) -> None:
        """Raise Stale where the request names another version than this."""
        must_match(self.request, self.etag(row))

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Filters, then `q`, then `ordering`."""
        queryset = super().filter_queryset(queryset)
        if self.action != "list":
            return queryset
        # PostgreSQL's texts hold no NUL, and no name does.
        words = self.request.query_params.get("q", "").replace("\0", " ").split()
        for word in words if self.search else []:
            # Each word somewhere: people type "vision train" for a queue of a tenant.
            matches = Q()
            for column in self.search:
                matches |= Q(**{f"{column}__icontains": word})
            queryset = queryset.filter(matches)
        return self._ordered(queryset)

    def _ordered(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        asked = self.request.query_params.get("ordering")
        if not asked:
            return queryset
        columns = []
        known = {"id": "pk"} | self.orders
        for name in asked.split(","):
            column = known.get(name.lstrip("-"))
            if column is None:
                message = f"`{name}` is not an order; there are {', '.join(sorted(known))}."
                raise Invalid(message, fields={"ordering": [message]})
            columns.append(f"-{column}" if name.startswith("-") else column)
        return queryset.order_by(*columns, "-pk")

    def _refuse_unknown(self, request: Request) -> None:
        """A misspelt filter that is ignored returns everything, and a script then acts on everything."""
        filterset = getattr(self, "filterset_class", None)
        known = LIST_PARAMETERS | set(filterset.base_filters if filterset else ())
        for name in request.query_params:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                message = f"There is no filter `{name}`" + (f"; did you mean `{close[0]}`?" if close else ".")
                raise Invalid(message, fields={name: [message]})
