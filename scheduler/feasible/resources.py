"""Free devices, CPU and memory, and nodes kept whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.framework import UNLIMITED, Ask, Rows
from scheduler.model.columns import IntArray
from scheduler.model.jobs import DeviceKind
from scheduler.model.occupancy import NOBODY
from scheduler.model.verdict import Cause
from scheduler.place.devices import rule_of

if TYPE_CHECKING:
    from scheduler.world import World


@dataclass(frozen=True)
class Gpus:
    """Devices of the kind asked for. A kubelet that chooses for itself cannot be trusted with parts of a GPU."""

    cause: ClassVar[Cause] = Cause.GPUS
    fixed: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return ask.role.devices.kind != DeviceKind.NONE

    def room(self, world: World, ask: Ask, rows: Rows) -> IntArray:
        room = rule_of(ask).room(world.site, ask, rows)
        if ask.role.devices.kind in {DeviceKind.SHARE, DeviceKind.MIG}:
            room = np.where(world.layout.nodes.exact[rows], room, 0)
        return room


@dataclass(frozen=True)
class Cpu:
    cause: ClassVar[Cause] = Cause.CPU
    fixed: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return ask.role.cpu > 0

    def room(self, world: World, ask: Ask, rows: Rows) -> IntArray:
        room: IntArray = world.ledger.used.cpu[rows] // ask.role.cpu
        return room


@dataclass(frozen=True)
class Memory:
    cause: ClassVar[Cause] = Cause.MEMORY
    fixed: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return ask.role.memory > 0

    def room(self, world: World, ask: Ask, rows: Rows) -> IntArray:
        room: IntArray = world.ledger.used.memory[rows] // ask.role.memory
        return room


@dataclass(frozen=True)
class Exclusive:
    """A job that takes whole nodes needs them empty; nobody else enters a node so taken."""

    cause: ClassVar[Cause] = Cause.EXCLUSIVE
    fixed: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return True

    def room(self, world: World, ask: Ask, rows: Rows) -> IntArray:
        used = world.ledger.used
        if not ask.shape.exclusive and not world.ledger.has_owners:
            return np.full(len(used.owner[rows]), UNLIMITED, dtype=np.int64)
        if not ask.shape.exclusive:
            return np.where(used.owner[rows] == NOBODY, UNLIMITED, 0)
        alone = (used.workers[rows] == 0) & (used.owner[rows] == NOBODY)
        if not world.is_pristine:
            alone &= world.layout.nodes.others_gpus[rows] == 0
        if world.entered:
            alone |= np.isin(np.arange(len(used.owner))[rows], world.entered)
        return np.where(alone, UNLIMITED, 0)
