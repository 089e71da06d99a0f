"""Time slices: a worker takes one replica on each of its GPUs; two workers of one gang never meet on one GPU."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scheduler.framework import Ask, Rows
from scheduler.model.columns import FloatArray, IntArray
from scheduler.model.hardware import mask_of
from scheduler.model.jobs import DeviceKind
from scheduler.model.occupancy import Site
from scheduler.place.share import BITS, allowed_bits
from scheduler.reserve.ledger import ALONE, Beside, Pick


class TimeSlices:
    def room(self, site: Site, ask: Ask, rows: Rows) -> IntArray:
        room: IntArray = _open(site, ask, rows).sum(axis=1, dtype=np.int64) // max(1, ask.role.devices.count)
        return room

    def sharing(self, site: Site, ask: Ask, rows: Rows) -> FloatArray:
        """The GPU with most replicas in use first."""
        busiest = np.where(_open(site, ask, rows), site.used.milli[rows], 0).max(axis=1)
        score: FloatArray = np.minimum(busiest, 100).astype(np.float64)
        return score

    def pick(self, site: Site, ask: Ask, row: int, gang: Beside = ALONE) -> Pick | None:
        could = np.flatnonzero(_open(site, ask, np.array([row]))[0] & ~(gang.gpus >> BITS & 1).astype(np.bool_))
        count = ask.role.devices.count
        if len(could) < count:
            return None
        order = could[np.argsort(-site.used.milli[row, could], kind="stable")]
        return Pick(DeviceKind.SLICE, mask_of(order[:count].tolist()))


def _open(site: Site, ask: Ask, rows: Rows) -> npt.NDArray[np.bool_]:
    """[rows, 16] GPUs with a replica left, on time-sliced nodes."""
    replicas = site.layout.nodes.replicas[rows][:, None]
    has_free = (site.used.free[rows][:, None] >> BITS & 1).astype(np.bool_)
    sliced = (site.used.kind[rows] == DeviceKind.SLICE) & (site.used.milli[rows] < replicas)
    could: npt.NDArray[np.bool_] = (has_free | sliced) & (replicas > 1) & allowed_bits(site, ask, rows)
    return could
