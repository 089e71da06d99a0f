"""Kubernetes quantities as integers: `100m`, `64Gi`, `1e3`."""

from __future__ import annotations

import functools
import math
import re
from decimal import Decimal

_FORM = re.compile(r"([+-]?[0-9.]+)(?:([eE][+-]?[0-9]+)|([numkMGTPE]i?|Ki)?)$")
_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    **{unit: Decimal(1000) ** power for power, unit in enumerate("kMGTPE", start=1)},
    **{f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", start=1)},
}


@functools.lru_cache(4096)
def _value(text: str) -> Decimal:
    match = _FORM.match(text)
    if match is None:
        raise ValueError(f"not a quantity: {text!r}")
    number, exponent, suffix = match.groups()
    return Decimal(number + (exponent or "")) * _SUFFIXES[suffix or ""]


def milli(quantity: str | float) -> int:
    """Thousandths, rounded up as the API server does."""
    return math.ceil(_value(str(quantity)) * 1000)


def whole(quantity: str | float) -> int:
    """Whole units (bytes, devices), rounded up."""
    return math.ceil(_value(str(quantity)))
