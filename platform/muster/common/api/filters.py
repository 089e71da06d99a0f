"""Filters by suffix: `state=queued`, `state__n=`, `name__ic=`, `gpus__gte=`, `started_at__isnull=`.

A repeated parameter is an or.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet

EQUALS = ("", "__in", "__n")
RANGES = ("__gte", "__lte")


@dataclass(frozen=True)
class By:
    """A column that can be filtered: its lookup path, how a value is read, and which suffixes it has.

    With `above`, `vision/train` is taken apart: `vision` is looked for there, `train` in `path`.
    """

    path: str
    field: type[forms.Field] = forms.CharField
    suffixes: tuple[str, ...] = EQUALS
    choices: Iterable[Any] = ()
    above: str = ""


def text(path: str, *, above: str = "") -> By:
    """A column of words."""
    return By(path, forms.CharField, (*EQUALS, "__ic"), above=above)


def number(path: str) -> By:
    """A column of numbers."""
    return By(path, forms.DecimalField, (*EQUALS, *RANGES))


def moment(path: str) -> By:
    """A column of times, which may be empty."""
    return By(path, forms.DateTimeField, (*RANGES, "__isnull"))


def yes_no(path: str) -> By:
    """A column of true and false."""
    return By(path, forms.TypedChoiceField, ("",))


def choice(path: str, choices: Iterable[Any]) -> By:
    """A column with a fixed set of words."""
    return By(path, forms.ChoiceField, EQUALS, choices)


class Several(forms.Field):
    """Reads every occurrence of a parameter, each by the same inner field; with `comma`, also lists within one."""

    widget = forms.SelectMultiple

    def __init__(self, *, one: forms.Field, comma: bool = False, **options: Any) -> None:
        self.one, self.comma = one, comma
        super().__init__(**options)

    def clean(self, value: Any) -> list[Any]:
        """The values; an empty list when the parameter is not there."""
        given = [part for text in value or [] for part in (str(text).split(",") if self.comma else [text])]
        return [self.one.clean(part) for part in given if part != ""]


class AnyOf(django_filters.Filter):
    """Rows that meet the lookup with any of the values given."""

    field_class = Several

    def __init__(self, *arguments: Any, above: str = "", **options: Any) -> None:
        self.above = above
        super().__init__(*arguments, **options)

    def filter(self, qs: QuerySet[Any], value: list[Any]) -> QuerySet[Any]:
        """Nothing given: everything."""
        if not value:
            return qs
        condition = reduce(or_, map(self._condition, value))
        return qs.exclude(condition) if self.exclude else qs.filter(condition)

    def _condition(self, item: Any) -> Q:
        outer, separator, inner = str(item).rpartition("/") if self.above else ("", "", item)
        condition = Q(**{f"{self.field_name}__{self.lookup_expr}": inner})
        return condition & Q(**{f"{self.above}__{self.lookup_expr}": outer}) if separator else condition


YES_NO = [("true", "true"), ("false", "false"), ("1", "true"), ("0", "false")]
LOOKUPS = {"": "exact", "__in": "exact", "__n": "exact", "__ic": "icontains", "__gte": "gte", "__lte": "lte"}


def _yes_no_field() -> forms.Field:
    return forms.TypedChoiceField(choices=YES_NO, coerce=lambda text: text in ("true", "1"))


def _filters(name: str, by: By) -> Iterator[tuple[str, django_filters.Filter]]:
    for suffix in by.suffixes:
        if suffix == "__isnull" or by.field is forms.TypedChoiceField:
            inner, lookup = _yes_no_field(), "isnull" if suffix == "__isnull" else "exact"
        else:
            inner = by.field(choices=list(by.choices)) if by.field is forms.ChoiceField else by.field()
            lookup = LOOKUPS[suffix]
        options: dict[str, Any] = {
            "exclude": suffix == "__n",
            "above": by.above,
            "comma": suffix == "__in",
            "required": False,
        }
        yield name + suffix, AnyOf(by.path, lookup, one=inner, **options)


class SuffixFilterSet(django_filters.FilterSet):
    """Declare `columns = {"name": text("name"), …}`; every suffix of each becomes a filter."""

    columns: dict[str, By] = {}

    @classmethod
    def get_filters(cls) -> dict[str, django_filters.Filter]:
        """Called once, when the class is made."""
        filters = dict(super().get_filters())
        for name, by in cls.columns.items():
            filters.update(_filters(name, by))
        return filters
