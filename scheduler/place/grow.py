"""Grow: elastic jobs above their minimum, in the order of the queues, one worker at a time, near those they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from scheduler.framework import Ask, Candidate, Gang
from scheduler.model.columns import IntArray
from scheduler.model.hardware import GpuModel
from scheduler.model.jobs import DeviceKind, JobShape, RunState, TopologyNeeds
from scheduler.model.nodes import distinct
from scheduler.model.occupancy import NOBODY
from scheduler.model.plan import Unit, WorkerPlacement
from scheduler.model.snapshot import Snapshot
from scheduler.place.attempt import unit_of
from scheduler.place.devices import rule_of
from scheduler.place.gang import in_ring_order, placement_of
from scheduler.place.levels import CLUSTER, required_level, slice_level
from scheduler.place.seating import Seat
from scheduler.reserve.ledger import Beside, Pick
from scheduler.world import World


@dataclass
class Grower:
    """An elastic job with fewer workers than it could have. `rows` and `next_index` are per role position."""

    candidate: Candidate
    """With the whole shape, not the minimal one."""
    rows: list[list[int]]
    gpus: dict[int, int]
    """Mask of the GPUs it has by node row."""
    started: Unit | None = None
    """The unit that starts it in this plan; None: it runs already."""
    next_index: list[int] = field(default_factory=list)
    added: list[WorkerPlacement] = field(default_factory=list)
    seats: dict[int, list[Seat]] = field(default_factory=dict)

    @property
    def shape(self) -> JobShape:
        return self.candidate.shape

    def lacks(self, position: int) -> bool:
        return len(self.rows[position]) < self.shape.roles[position].workers


def grow(world: World, units: Sequence[Unit]) -> list[Unit]:
    """The same units with their elastic gangs grown, and one more for each running job that grows."""
    grown: dict[int, Unit] = {}
    later: list[Unit] = []
    for grower in _in_order(world, [*_started(world, units), *_running(world)]):
        while _add_one(world, grower):
            pass
        if not grower.added:
            continue
        if grower.started is None:
            later.append(Unit(grower.candidate.key, tuple(grower.added), is_growth=True))
        else:
            grown[grower.candidate.key] = _whole_unit(world, grower, grower.started)
    return [grown.get(unit.job, unit) for unit in units] + later


def _started(world: World, units: Sequence[Unit]) -> Iterator[Grower]:
    waiting = world.snapshot.waiting
    for unit in units:
        row = world.started_elastic.get(unit.job)
        if row is not None:
            shape: JobShape = waiting.shape[row]
            candidate = Candidate(row, unit.job, shape, int(waiting.queue[row]), waiting.avoid[row])
            workers = [_Has(w.role, world.row_of(w.node), w.index, w.gpus) for w in unit.workers]
            yield _grower(candidate, workers, unit)


def _running(world: World) -> Iterator[Grower]:
    running, workers = world.snapshot.running, world.snapshot.workers
    for row in world.snapshot.derived("elastic jobs", _elastic_rows).tolist():
        shape: JobShape = running.shape[row]
        mine = np.flatnonzero(workers.job == running.key[row]).tolist()
        have = [
            _Has(
                shape.roles[workers.role[w]].name,
                world.row_of(workers.node[w]),
                int(workers.index[w]),
                int(workers.gpus[w]),
            )
            for w in mine
        ]
        yield _grower(Candidate(-1, int(running.key[row]), shape, int(running.queue[row])), have, None)


def _elastic_rows(snapshot: Snapshot) -> IntArray:
    """Rows of the running jobs that may grow."""
    shapes, shape_of = distinct(snapshot.running.shape)
    is_elastic = np.array([shape.at_minimum is not shape for shape in shapes] or [False])
    return np.flatnonzero(is_elastic[shape_of] & (snapshot.running.state == RunState.RUNNING))


class _Has(NamedTuple):
    """A worker that the job has."""

    role: str
    row: int
    number: int
    """Its index in the role."""
    gpus: int


def _grower(candidate: Candidate, workers: Sequence[_Has], started: Unit | None) -> Grower:
    roles = candidate.shape.roles
    rows = [[worker.row for worker in workers if worker.role == role.name] for role in roles]
    next_index = [max((w.number + 1 for w in workers if w.role == role.name), default=0) for role in roles]
    gpus: dict[int, int] = {}
    for worker in workers:
        gpus[worker.row] = gpus.get(worker.row, 0) | worker.gpus
    return Grower(candidate, rows, gpus, started, next_index=next_index)


def _in_order(world: World, growers: Sequence[Grower]) -> list[Grower]:
    """As QueueSort `priority` has it: queue priority, job priority, submission, registration."""
    queues = {queue.key: queue.priority for queue in world.snapshot.queues}

    def place(grower: Grower) -> tuple[int, int, float, int]:
        table = world.snapshot.running if grower.started is None else world.snapshot.waiting
        row = int(np.searchsorted(table.key, grower.candidate.key))
        priority, submitted = int(table.priority[row]), float(table.submitted[row])
        return -queues[grower.candidate.queue], -priority, submitted, grower.candidate.key

    return sorted(growers, key=place)


def _add_one(world: World, grower: Grower) -> bool:
    """One more worker for the first role that lacks one and finds a place."""
    return any(grower.lacks(position) and _add(world, grower, position) for position in range(len(grower.rows)))


def _add(world: World, grower: Grower, position: int) -> bool:
    shape = grower.shape
    model = _model_of(world, grower, position)
    if shape.roles[position].devices.kind != DeviceKind.NONE and model is None:
        return False
    ask = world.asks(_one_more(shape, position), (model,), grower.candidate.avoid)[0]
    demand = world.quota.demand(ask.shape, (model,))
    if world.quota.refusal(grower.candidate.queue, demand, preemptible=shape.preemptible) is not None:
        return False
    found = _seat(world, grower, position, ask)
    if found is None:
        return False
    row, pick = found
    owner = grower.candidate.key if shape.exclusive else NOBODY
    world.ledger.book(row, cpu=ask.role.cpu, memory=ask.role.memory, pick=pick, owner=owner)
    world.quota.charge(grower.candidate.queue, demand, preemptible=shape.preemptible)
    rank = grower.next_index[position] if shape.ranked_roles == (position,) else -1
    seat = Seat(position, row, pick)
    grower.added.append(placement_of(world, shape, seat, index=grower.next_index[position], rank=rank))
    grower.seats.setdefault(position, []).append(seat)
    grower.rows[position].append(row)
    grower.gpus[row] = grower.gpus.get(row, 0) | pick.gpus
    grower.next_index[position] += 1
    return True


def _seat(world: World, grower: Grower, position: int, ask: Ask) -> tuple[int, Pick] | None:
    """A node with room, as near as can be to the workers it has; by the node rule within that."""
    own = [row for rows in grower.rows for row in rows]
    if grower.shape.exclusive:
        world.entered = own
        world.ledger.touched += own
    view = world.view(ask)
    open_rows = _open_rows(world, grower, position)
    open_rows = open_rows[view.room[open_rows] > 0]
    if grower.shape.exclusive:
        world.entered = []
        world.ledger.touched += own
    rows = _nearest(world, own, open_rows)
    for row in rows[np.argsort(-view.key[rows], kind="stable")].tolist():
        pick = rule_of(ask).pick(world.site, ask, row, Beside(grower.gpus.get(row, 0)))
        if pick is not None:
            return row, pick
    return None


def _open_rows(world: World, grower: Grower, position: int) -> IntArray:
    """Rows that topology, spread and apart leave to one more worker of the role."""
    shape, layout = grower.shape, world.layout
    own = [row for rows in grower.rows for row in rows]
    level, run_level = required_level(shape, layout.levels), slice_level(shape, layout.levels)
    mask = np.ones(len(layout.nodes), dtype=np.bool_)
    if level != CLUSTER and own:
        mask &= layout.domain_of[level] == layout.domain_of[level][own[0]]
    run = shape.topology.slice.workers if shape.topology.slice else 1
    if run_level != CLUSTER and len(grower.rows[position]) % run:
        mask &= layout.domain_of[run_level] == layout.domain_of[run_level][grower.rows[position][-1]]
    role = shape.roles[position]
    for other, rows in zip(shape.roles, grower.rows, strict=True):
        if shape.spread or other.apart == role.name or role.apart == other.name:
            mask[rows] = False
    return np.flatnonzero(mask)


def _nearest(world: World, own: Sequence[int], rows: IntArray) -> IntArray:
    """Those rows that lie in a domain the job uses, of the innermost level that has any."""
    layout = world.layout
    for level in range(layout.host_level, CLUSTER, -1) if own else ():
        near = np.isin(layout.group_of[level][rows], layout.group_of[level][list(own)])
        if near.any():
            return rows[near]
    return rows


def _model_of(world: World, grower: Grower, position: int) -> GpuModel | None:
    """The role's one model: that of the workers it has, else the first that serves."""
    if grower.shape.roles[position].devices.kind == DeviceKind.NONE:
        return None
    if grower.rows[position]:
        return world.layout.models[int(world.layout.model_of[grower.rows[position][0]])]
    return next(iter(world.models_for(grower.shape)[position]), None)


def _one_more(shape: JobShape, position: int) -> JobShape:
    """A job of one worker of this role; where it may stand beside the others is decided here, not by its shape."""
    role = replace(shape.roles[position], workers=1, min_workers=1, near="", apart="")
    return replace(shape, roles=(role,), topology=TopologyNeeds(), spread=False)


def _whole_unit(world: World, grower: Grower, unit: Unit) -> Unit:
    """A gang that starts and grows at once is numbered along the tree as one; slices keep the numbers they have."""
    models = tuple(_model_of(world, grower, position) for position in range(len(grower.rows)))
    workers = [*unit.workers, *grower.added]
    if grower.shape.topology.slice is None:
        workers = _renumbered(world, grower.shape, workers)
    return unit_of(world, Gang(grower.candidate, models, tuple(workers)))


def _renumbered(world: World, shape: JobShape, workers: Sequence[WorkerPlacement]) -> list[WorkerPlacement]:
    found: list[WorkerPlacement] = []
    rank = 0
    for position, role in enumerate(shape.roles):
        mine = [worker for worker in workers if worker.role == role.name]
        order = in_ring_order(world, [world.row_of(worker.node) for worker in mine])
        has_rank = position in shape.ranked_roles
        for index, number in enumerate(order):
            found.append(replace(mine[number], index=index, rank=rank + index if has_rank else -1))
        rank += len(mine) if has_rank else 0
    return found
