"""Why a worker has less than it preferred, said on the job."""

from __future__ import annotations

import numpy as np

from scheduler.framework import Ask, Gang
from scheduler.model.hardware import LINK_NVLINK
from scheduler.model.jobs import DeviceKind, Want
from scheduler.model.plan import Shortfall
from scheduler.model.tables import QUALITY_NUMA, QUALITY_NVLINK, QUALITY_SWITCH
from scheduler.world import World

_QUALITY = {LINK_NVLINK: QUALITY_NVLINK, "switch": QUALITY_SWITCH, "numa": QUALITY_NUMA}


def shortfalls(world: World, gang: Gang) -> tuple[Shortfall, ...]:
    """One entry per role whose GPUs are joined worse than it preferred, and one if the gang is spread wider."""
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
    return (*found, *_split_domain(world, gang))


def _split_domain(world: World, gang: Gang) -> list[Shortfall]:
    """The level that was preferred, where the gang had to be spread over several of its domains."""
    topology, layout = gang.candidate.shape.topology, world.layout
    if topology.want != Want.PREFERRED or topology.level not in layout.levels or len(gang.workers) < 2:
        return []
    rows = np.searchsorted(layout.nodes.key, [worker.node for worker in gang.workers])
    domains = set(layout.group_of[layout.levels.index(topology.level)][rows].tolist())
    worst = min(worker.quality for worker in gang.workers)
    return [Shortfall("", topology.level, len(gang.workers), len(domains), worst)] if len(domains) > 1 else []
