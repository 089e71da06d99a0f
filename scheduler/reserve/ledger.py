"""The working copy of what is in use. Every booking can be taken back, and what was touched can be asked for."""

from __future__ import annotations

from typing import NamedTuple

from scheduler.model.jobs import DeviceKind
from scheduler.model.occupancy import NOBODY, Occupancy


class Pick(NamedTuple):
    """Devices chosen for one worker on a node."""

    kind: DeviceKind = DeviceKind.NONE
    gpus: int = 0
    milli: int = 0
    """On its one GPU, for SHARE."""
    start: int = -1
    slices: int = 0
    """Mask of memory slices, for MIG."""
    compute: int = 0
    quality: int = 100


NO_DEVICES = Pick()


class Beside(NamedTuple):
    """A worker's gang on the node where it gets its devices."""

    gpus: int = 0
    """Mask of those its gang has there already (time slices)."""
    more: int = 0
    """Workers that are to follow it there."""


ALONE = Beside()


class _Before(NamedTuple):
    """State of a node before a booking; `parts` per GPU that is used in parts."""

    row: int
    free: int
    cpu: int
    memory: int
    owner: int
    parts: tuple[tuple[int, int, int, int, int], ...]


class Ledger:
    """Books workers on nodes. `touched` lists the rows of all bookings and returns, in order, so that tables can follow."""

    def __init__(self, used: Occupancy) -> None:
        self.used = used
        self.touched: list[int] = []
        self.has_owners = bool((used.owner != NOBODY).any())
        """Whether an exclusive job may have a node."""
        self._undo: list[_Before] = []

    def mark(self) -> int:
        """A point to roll back to."""
        return len(self._undo)

    def book(self, row: int, *, cpu: int, memory: int, pick: Pick, owner: int = NOBODY) -> None:
        """Put one worker on a node. `owner`: key of the job that takes the node for itself."""
        used = self.used
        parts: tuple[tuple[int, int, int, int, int], ...] = ()
        free = int(used.free[row])
        if pick.kind > DeviceKind.WHOLE:
            parts = self._book_parts(row, pick)
        self._undo.append(_Before(row, free, int(used.cpu[row]), int(used.memory[row]), int(used.owner[row]), parts))
        if pick.gpus:
            used.free[row] = free & ~pick.gpus
        if cpu:
            used.cpu[row] -= cpu
        if memory:
            used.memory[row] -= memory
        used.workers[row] += 1
        if owner != NOBODY:
            used.owner[row] = owner
            self.has_owners = True
        self.touched.append(row)

    def _book_parts(self, row: int, pick: Pick) -> tuple[tuple[int, int, int, int, int], ...]:
        used, before = self.used, []
        for gpu in range(pick.gpus.bit_length()):
            if not pick.gpus >> gpu & 1:
                continue
            at = (row, gpu)
            before.append((gpu, int(used.kind[at]), int(used.milli[at]), int(used.slices[at]), int(used.compute[at])))
            used.kind[at] = pick.kind
            used.milli[at] += pick.milli if pick.kind == DeviceKind.SHARE else pick.kind == DeviceKind.SLICE
            used.slices[at] |= pick.slices
            used.compute[at] += pick.compute
        return tuple(before)

    def rollback(self, mark: int) -> None:
        """Take back every booking made since `mark`."""
        used = self.used
        while len(self._undo) > mark:
            was = self._undo.pop()
            row = was.row
            used.free[row], used.cpu[row], used.memory[row], used.owner[row] = was.free, was.cpu, was.memory, was.owner
            used.workers[row] -= 1
            for gpu, kind, milli, slices, compute in was.parts:
                at = (row, gpu)
                used.kind[at], used.milli[at], used.slices[at], used.compute[at] = kind, milli, slices, compute
            self.touched.append(row)
