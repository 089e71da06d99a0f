"""Wiring of machines that are built alike everywhere, for nodes whose labels tell only what GPUs they have.

A row is here only if the product and the number of GPUs settle the wiring. Two GPUs of an eight-GPU board given to a
virtual machine settle nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from scheduler.model.catalogue import SHAPES
from scheduler.model.hardware import Nic


@dataclass(frozen=True, slots=True)
class Wiring:
    """None: the machine's kind does not settle it."""

    links: tuple[tuple[str, ...], ...]
    numa: tuple[int, ...] | None = None
    switch: tuple[int, ...] | None = None
    nics: tuple[Nic, ...] | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """A row: what the machine label and the product label say, how many GPUs, and what follows."""

    machine: str
    """Regular expression for the machine label; empty = any machine."""
    product: str
    """Regular expression for the product name."""
    gpus: int
    shape: str = ""
    """Wired as this shape of the catalogue."""
    all_joined: str = ""
    """Every GPU joined to every other by such a link."""


MACHINES: tuple[Machine, ...] = (
    Machine(r"DGX-?H100", r"H100", 8, shape="dgx-h100"),
    Machine(r"DGX-?H200", r"H200", 8, shape="dgx-h200"),
    Machine(r"DGX-?A100", r"A100-SXM4", 8, shape="dgx-a100"),
    Machine(r"DGX-1", r"V100-SXM2", 8, shape="dgx1-v100"),
    Machine("", r"V100-SXM2", 8, shape="dgx1-v100"),
    Machine("", r"A100-SXM4", 8, all_joined="NV12"),
    Machine("", r"A100-SXM4", 4, all_joined="NV4"),
    Machine("", r"A800-SXM4", 8, all_joined="NV8"),
    Machine("", r"H800", 8, all_joined="NV8"),
    Machine("", r"H100-80GB-HBM3|H100-SXM5|H20\b|H200\b|B200\b", 8, all_joined="NV18"),
    Machine("", r"H100-80GB-HBM3|H100-SXM5", 4, all_joined="NV6"),
    Machine("", r"GB200", 4, all_joined="NV18"),
    Machine("", r"MI300X", 8, all_joined="XGMI"),
)


def wiring_of(machine: str, product: str, count: int) -> Wiring | None:
    """The wiring that the labels settle, if any. A single GPU has none to settle."""
    name = re.sub(r"[\s_]+", "-", product)
    for row in MACHINES:
        if row.gpus == count and re.search(row.machine, machine) and re.search(row.product, name):
            return _of_shape(row.shape, keep_nics=bool(row.machine)) if row.shape else _joined(count, row.all_joined)
    return None


def _of_shape(name: str, *, keep_nics: bool) -> Wiring:
    shape = SHAPES[name]
    links = tuple(
        tuple(_cell(shape.links[a][b], a == b) for b in range(shape.gpu_count)) for a in range(shape.gpu_count)
    )
    return Wiring(links, shape.numa, shape.switch, shape.nics if keep_nics else None)


def _cell(count: int, is_self: bool) -> str:
    if is_self:
        return "X"
    return f"NV{count}" if count else "SYS"


def _joined(count: int, link: str) -> Wiring:
    return Wiring(tuple(tuple("X" if a == b else link for b in range(count)) for a in range(count)))
