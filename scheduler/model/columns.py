"""Tables as frozen dataclasses of equally long NumPy columns, one row per thing.

Rows are always sorted by `key` (the platform's primary key), and that order is the order of registration: every tie in
the core is broken by it, none by a name.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
MaskArray = npt.NDArray[np.uint32]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
ObjectArray = npt.NDArray[np.object_]
AnyArray = npt.NDArray[Any]


def objects(values: Any) -> ObjectArray:
    """A one-dimensional array of Python objects, whatever they are (NumPy would unpack tuples)."""
    values = list(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@dataclass(frozen=True)
class Columns:
    """Base of all tables. Every field is an array whose first axis is the row; arrays are made read-only."""

    def __post_init__(self) -> None:
        lengths = set()
        for field in fields(self):
            column: AnyArray = getattr(self, field.name)
            column.flags.writeable = False
            lengths.add(len(column))
        if len(lengths) > 1:
            raise ValueError(f"{type(self).__name__}: columns of different lengths {sorted(lengths)}")

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def take(self, rows: AnyArray) -> Self:
        """These rows (indices or a mask), in this order."""
        return type(self)(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    def concat(self, other: Self) -> Self:
        if not len(other):
            return self
        return type(self)(
            **{f.name: np.concatenate((getattr(self, f.name), getattr(other, f.name))) for f in fields(self)}
        )

    def equals(self, other: Self) -> bool:
        pairs = [(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)]
        return len(self) == len(other) and all(_same(a, b) for a, b in pairs)


def _same(a: AnyArray, b: AnyArray) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def positions(sorted_keys: IntArray, wanted: IntArray, what: str) -> IntArray:
    """Row numbers of `wanted` in an ascending key column; an unknown key is an error that names it."""
    rows = np.searchsorted(sorted_keys, wanted)
    found = rows < len(sorted_keys)
    found[found] = sorted_keys[rows[found]] == wanted[found]
    if not found.all():
        raise KeyError(f"unknown {what} {int(wanted[~found][0])}")
    return rows
