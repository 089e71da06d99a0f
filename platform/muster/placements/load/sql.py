"""Running the queries of load and turning their rows into columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from django.db import connection, transaction

from scheduler.model.columns import BoolArray, FloatArray, IntArray, MaskArray

Rows = Sequence[tuple[Any, ...]]


@contextmanager
def one_view() -> Iterator[None]:
    """A transaction in which every query sees the same instant; what it writes is committed at its end.

    Inside a transaction of the caller's, the view is the caller's.
    """
    is_outermost = not connection.in_atomic_block
    with transaction.atomic():
        if is_outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield


def fetch(sql: str, parameters: dict[str, Any] | None = None) -> Rows:
    """All rows of a query."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: Rows = cursor.fetchall()
    return rows


def columns(rows: Rows, count: int) -> list[tuple[Any, ...]]:
    """`rows` turned on their side; `count` empty columns when there are none."""
    return list(zip(*rows, strict=True)) if rows else [()] * count


def ints(values: Sequence[Any]) -> IntArray:
    return np.array(values, dtype=np.int64)


def floats(values: Sequence[Any]) -> FloatArray:
    return np.array(values, dtype=np.float64)


def bools(values: Sequence[Any]) -> BoolArray:
    return np.array(values, dtype=np.bool_)


def masks(values: Sequence[Any]) -> MaskArray:
    return np.array(values, dtype=np.uint32)
