"""Devices on a node by the kind asked for: how many workers find some, and which ones the next worker gets."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from scheduler.framework import UNLIMITED, Ask, Rows
from scheduler.model.columns import FloatArray, IntArray
from scheduler.model.jobs import DeviceKind
from scheduler.model.occupancy import Site
from scheduler.place import mig, share, time_slice, whole
from scheduler.reserve.ledger import ALONE, NO_DEVICES, Beside, Pick


class DeviceRule(Protocol):
    """One module per kind."""

    def room(self, site: Site, ask: Ask, rows: Rows) -> IntArray:
        """Workers that find devices on each node, one after another."""
        ...

    def sharing(self, site: Site, ask: Ask, rows: Rows) -> FloatArray:
        """0 = a fresh GPU would be opened; up to 100 = how well a GPU already shared suits."""
        ...

    def pick(self, site: Site, ask: Ask, row: int, gang: Beside = ALONE) -> Pick | None:
        """Devices of the next worker; `gang`: the others of its gang on the node."""
        ...


class _NoDevices:
    def room(self, site: Site, ask: Ask, rows: Rows) -> IntArray:
        return np.full(len(site.used.free[rows]), UNLIMITED, dtype=np.int64)

    def sharing(self, site: Site, ask: Ask, rows: Rows) -> FloatArray:
        return np.zeros(len(site.used.free[rows]))

    def pick(self, site: Site, ask: Ask, row: int, gang: Beside = ALONE) -> Pick | None:
        return NO_DEVICES


RULES: dict[DeviceKind, DeviceRule] = {
    DeviceKind.NONE: _NoDevices(),
    DeviceKind.WHOLE: whole.WholeGpus(),
    DeviceKind.SHARE: share.SharedGpus(),
    DeviceKind.MIG: mig.MigInstances(),
    DeviceKind.SLICE: time_slice.TimeSlices(),
}


def rule_of(ask: Ask) -> DeviceRule:
    """The rule for what this ask wants."""
    return RULES[ask.role.devices.kind]
