"""Why a worker has less than it preferred, said on the job."""

from __future__ import annotations

from scheduler.framework import Ask, Gang
from scheduler.model.hardware import LINK_NVLINK
from scheduler.model.jobs import DeviceKind, Want
from scheduler.model.plan import Shortfall
from scheduler.model.tables import QUALITY_NUMA, QUALITY_NVLINK, QUALITY_SWITCH
from scheduler.world import World

_QUALITY = {LINK_NVLINK: QUALITY_NVLINK, "switch": QUALITY_SWITCH, "numa": QUALITY_NUMA}


def shortfalls(world: World, gang: Gang) -> tuple[Shortfall, ...]:
    """One entry per role of which a worker's GPUs are joined worse than it preferred."""
    shape, found = gang.candidate.shape, []
    for position, role in enumerate(shape.roles):
        if role.devices.kind != DeviceKind.WHOLE or role.devices.count < 2:
            continue
        ask = Ask(shape, position, gang.models[position], gang.candidate.avoid)
        wanted = ask.need.preferred or (LINK_NVLINK if role.gpu.nvlink == Want.PREFERRED else "")
        worst = min((w.quality for w in gang.workers if w.role == role.name), default=QUALITY_NVLINK)
        if wanted and worst < _QUALITY[wanted]:
            nodes = int(world.fixed_mask(ask).sum())
            found.append(Shortfall(role.name, wanted, role.devices.count, nodes, worst))
    return tuple(found)
