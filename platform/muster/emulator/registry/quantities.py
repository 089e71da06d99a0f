"""Kubernetes quantities: `500m`, `2Ti`, `1e3`."""

import functools
import re
from fractions import Fraction

_SUFFIXES = {
    "": Fraction(1), "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12), "P": Fraction(10**15),
    "E": Fraction(10**18), "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30),
    "Ti": Fraction(2**40), "Pi": Fraction(2**50), "Ei": Fraction(2**60),
}  # fmt: skip
_PATTERN = re.compile(r"([+-]?\d+(?:\.\d*)?|[+-]?\.\d+)(?:[eE]([+-]?\d+))?([numkMGTPE]i?|Ki)?")


@functools.lru_cache(maxsize=4096)
def exact(text: str | int | float) -> Fraction:
    """The number a quantity stands for; ValueError when it is none."""
    found = _PATTERN.fullmatch(str(text).strip())
    if found is None:
        raise ValueError(f"not a quantity: {text!r}")
    number, exponent, suffix = found.groups()
    return Fraction(number) * Fraction(10) ** int(exponent or 0) * _SUFFIXES[suffix or ""]


@functools.lru_cache(maxsize=4096)
def in_units(resource: str, text: str | int | float) -> int:
    """A quantity as the kubelet counts it: CPU in thousandths, everything else in whole units, rounded up."""
    number = exact(text) * (1000 if resource == "cpu" else 1)
    return -((-number.numerator) // number.denominator)


def is_whole(text: str | int | float) -> bool:
    return exact(text).denominator == 1
