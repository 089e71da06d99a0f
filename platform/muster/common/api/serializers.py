"""Bases of serializers."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Model
from rest_framework import serializers

from muster.common.errors import Invalid

Row = TypeVar("Row", bound=Model)


class ChosenFieldsMixin:
    """`?fields=a,b` keeps only these, `?omit=a,b` all but these. A name that is not there is refused, not ignored."""

    def get_fields(self) -> dict[str, serializers.Field]:
        """The fields that the request wants."""
        fields: dict[str, serializers.Field] = super().get_fields()  # type: ignore[misc]
        request = self.context.get("request")  # type: ignore[attr-defined]
        if request is None or self.context.get("whole"):  # type: ignore[attr-defined]
            return fields
        # Only the outermost object: a nested one may have a field of the same name.
        if self.parent is not None and not isinstance(self.parent, serializers.ListSerializer):  # type: ignore[attr-defined]
            return fields
        wanted, unwanted = (_names(request.query_params.get(key)) for key in ("fields", "omit"))
        for key, names in (("fields", wanted), ("omit", unwanted)):
            if unknown := names - fields.keys():
                message = f"There is no field {', '.join(sorted(unknown))}."
                raise Invalid(message, fields={key: [message]})
        return {
            name: field for name, field in fields.items() if (not wanted or name in wanted) and name not in unwanted
        }


class RowSerializer(ChosenFieldsMixin, serializers.ModelSerializer[Row]):
    """A row as a reader sees it."""

    standing: Any

    @property
    def reader(self) -> Any:
        """The reader's standing, which the view put into the context."""
        return self.context["standing"]


def _names(text: str | None) -> set[str]:
    return {name.strip() for name in (text or "").split(",") if name.strip()}
