"""Times, sizes and cores as people write them, to whole seconds, bytes and thousandths of a core."""

from __future__ import annotations

import math
import re
from decimal import Decimal

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
SIZES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15} | {
    f"{unit}i": 1024**power for power, unit in enumerate("KMGTP", start=1)
}
SIZES["ki"] = 1024


def seconds(value: float | str) -> int:
    """`1h30m`, `90s` or a number of seconds, rounded up to whole seconds."""
    if not isinstance(value, str):
        return math.ceil(value)
    parts = re.findall(r"([0-9.]+)([smhd])", value)
    return math.ceil(sum(Decimal(number) * SECONDS[unit] for number, unit in parts))


def size(value: int | str) -> int:
    """`64Gi`, `512M` or a number of bytes, to bytes."""
    if not isinstance(value, str):
        return int(value)
    match = re.fullmatch(r"([0-9.]+)([kKMGTP]i?)?B?", value)
    if match is None:
        raise ValueError(f"not a size: {value!r}")
    return int(Decimal(match[1]) * SIZES[match[2] or ""])


def cpu_milli(value: float | str) -> int:
    """`8`, `0.5` or `500m` cores, to thousandths, rounded up."""
    text = str(value)
    return math.ceil(Decimal(text[:-1])) if text.endswith("m") else math.ceil(Decimal(text) * 1000)


def cores(milli: int) -> int | float:
    """Thousandths of a core as the scenario format writes cores: a whole number where it is one."""
    return milli // 1000 if milli % 1000 == 0 else milli / 1000


def human_size(count: int) -> str:
    """`64Gi` for 64 · 2**30: the largest binary unit that keeps it whole."""
    for power, unit in reversed(list(enumerate("KMGTP", start=1))):
        if count and count % 1024**power == 0:
            return f"{count // 1024**power}{unit}i"
    return str(count)
