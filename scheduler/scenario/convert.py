"""Values as people write them to the core's integers."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from scheduler.model.jobs import Want
from scheduler.model.resources import CPU, GPU, MEMORY, MILLI_PER_CORE, MILLI_PER_GPU, PARTS_PER_GPU

_SUFFIXES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15} | {
    f"{letter}i": 2 ** (10 * power) for power, letter in enumerate("KMGTP", start=1)
}


def text(value: Any) -> str:
    """A word, written as such."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise TypeError(f"a name is expected, not {value!r}")
    return str(value)


def label_value(value: Any) -> str:
    """Labels are strings; YAML's true and 1 are meant as written."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"true or false is expected, not {value!r}")
    return value


def number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"a number is expected, not {value!r}")
    return float(value)


def count(value: Any) -> int:
    """A whole number, zero or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError(f"a whole number is expected, not {value!r}")
    return value


def positive(value: Any) -> int:
    if count(value) < 1:
        raise ValueError("at least 1 is expected")
    return int(value)


def integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"a whole number is expected, not {value!r}")
    return value


def millicores(value: Any) -> int:
    """Cores to millicores."""
    return _scaled(value, MILLI_PER_CORE)


def milli_gpu(value: Any) -> int:
    """A share of one GPU, above 0 and at most 1, to thousandths (rounded up)."""
    share = _scaled(value, MILLI_PER_GPU)
    if not 0 < share <= MILLI_PER_GPU:
        raise ValueError(f"a share of one GPU is above 0 and at most 1, not {value!r}")
    return share


def gpu_parts(value: Any) -> int:
    """GPUs to quota parts."""
    return _scaled(value, PARTS_PER_GPU)


def size(value: Any) -> int:
    """``64Gi`` or plain bytes to bytes."""
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGTP]i?|)B?", value.strip())
        if not match:
            raise ValueError(f"a size like 64Gi is expected, not {value!r}")
        return int(Fraction(match[1]) * _SUFFIXES[match[2]])
    return _scaled(value, 1)


def tenths(value: Any) -> int:
    """A compute capability, 8.9 to 89."""
    return _scaled(value, 10)


def names(value: Any) -> tuple[str, ...]:
    """One name or a list of them."""
    return tuple(text(one) for one in value) if isinstance(value, list) else (text(value),)


def gpu_indices(value: Any) -> int:
    """A list of GPU indices to a mask."""
    if not isinstance(value, list):
        raise TypeError(f"a list of GPU indices is expected, not {value!r}")
    mask = 0
    for one in value:
        mask |= 1 << count(one)
    return mask


def amounts(value: Any) -> dict[str, int]:
    """A quota: a number of GPUs, or amounts by resource name."""
    if not isinstance(value, dict):
        return {GPU: gpu_parts(value)}
    return {_resource(name): _amount(name, amount) for name, amount in value.items()}


def want(value: Any) -> Want:
    words = [str(one) for one in Want]
    if value not in words:
        raise ValueError(f"one of {', '.join(words)} is expected, not {value!r}")
    return Want(value)


def _resource(name: str) -> str:
    if name in {GPU, CPU, MEMORY} or (name.startswith(f"{GPU}/") and len(name) > len(GPU) + 1):
        return name
    raise ValueError(f"unknown resource `{name}`; known are gpu, cpu, memory and gpu/MODEL")


def _amount(name: str, value: Any) -> int:
    return millicores(value) if name == CPU else size(value) if name == MEMORY else gpu_parts(value)


def _scaled(value: Any, scale: int) -> int:
    """Rounded up to whole units; a decimal is taken as written (0.1 is a tenth)."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise TypeError(f"a number, zero or more, is expected, not {value!r}")
    exact = Fraction(str(value)) * scale
    return -(-exact.numerator // exact.denominator)
