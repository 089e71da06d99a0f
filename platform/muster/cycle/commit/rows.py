"""Attempt, Worker, DeviceHold and Placement rows of the units that start. Bulk statements only."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import connection
from django.db.models import Max

from muster.clusters.models import Node
from muster.common.choices import ChangeKind
from muster.common.events import record_changes
from muster.cycle.commit.devices import Devices
from muster.cycle.commit.fresh import Locked
from muster.placements.actions.holds import touch_nodes
from muster.placements.choices import HoldKind, HoldState
from muster.placements.models import JobVerdict, Placement
from muster.workloads.choices import AttemptState
from muster.workloads.models import Attempt, Role, Worker
from muster.workloads.states import start_jobs
from scheduler.messages import placed_message, shortfall_message
from scheduler.model.hardware import LINK_NUMA, LINK_NVLINK, LINK_SWITCH
from scheduler.model.plan import Shortfall, Unit, WorkerPlacement
from scheduler.model.resources import MILLI_PER_GPU
from scheduler.model.tables import QUALITY_NUMA, QUALITY_NVLINK, QUALITY_SWITCH

BATCH = 2000
_QUALITY_OF = {LINK_NVLINK: QUALITY_NVLINK, LINK_SWITCH: QUALITY_SWITCH, LINK_NUMA: QUALITY_NUMA}
"""The link quality of a worker that has what it preferred."""


def write_units(cluster_id: int, units: Sequence[Unit], *, locked: Locked, devices: Devices, now: dt.datetime) -> None:
    """Start the units' jobs; those nominated only get their devices kept."""
    attempts = _write_attempts(units)
    pairs = _write_workers(units, attempts)
    _write_holds(devices, pairs, now)
    starting = [(unit, attempt) for unit, attempt in zip(units, attempts, strict=True) if not unit.nominated]
    _write_placements(cluster_id, [attempt for _, attempt in starting], now)
    jobs = [locked.jobs[unit.job] for unit, _ in starting]
    start_jobs(jobs, _messages([unit for unit, _ in starting]))
    JobVerdict.objects.filter(job__in=jobs).delete()
    record_changes(cluster_id, ChangeKind.JOB, [unit.job for unit in units if unit.nominated])
    touch_nodes({worker.node for unit in units for worker in unit.workers})


def _write_attempts(units: Sequence[Unit]) -> list[Attempt]:
    keys = {unit.job for unit in units}
    last = Attempt.objects.filter(job__in=keys).values_list("job_id", "replica").annotate(Max("number"))
    numbers = Counter({(job, replica): number for job, replica, number in last})
    attempts = []
    for unit in units:
        numbers[unit.job, unit.replica] += 1
        attempts.append(
            Attempt(
                job_id=unit.job,
                replica=unit.replica,
                number=numbers[unit.job, unit.replica],
                state=AttemptState.NOMINATED if unit.nominated else AttemptState.CREATING,
                placement_note=_note(unit),
            )
        )
    return Attempt.objects.bulk_create(attempts, batch_size=BATCH)


def _note(unit: Unit) -> dict[str, Any]:
    """What the job's page says of the placement."""
    note: dict[str, Any] = {"quality": min((worker.quality for worker in unit.workers), default=100)}
    if unit.bottleneck is not None:
        bottleneck = unit.bottleneck
        note["bottleneck"] = {
            "level": bottleneck.level,
            "gigabytes": bottleneck.gigabytes,
            "source": bottleneck.source,
        }
    if unit.shortfalls:
        note["shortfalls"] = [_shortfall(one) for one in unit.shortfalls]
    return note


def _shortfall(one: Shortfall) -> dict[str, Any]:
    return {"role": one.role, "wanted": one.wanted, "gpus": one.gpus, "nodes": one.nodes, "quality": one.quality}


def _write_workers(units: Sequence[Unit], attempts: Sequence[Attempt]) -> list[tuple[WorkerPlacement, Worker]]:
    roles = {
        (job_id, name): pk
        for pk, job_id, name in Role.objects.filter(job__in={unit.job for unit in units}).values_list(
            "pk", "job_id", "name"
        )
    }
    placed: list[WorkerPlacement] = []
    rows: list[Worker] = []
    for unit, attempt in zip(units, attempts, strict=True):
        fell_short = {one.role: one for one in unit.shortfalls if one.wanted in _QUALITY_OF}
        for worker in unit.workers:
            placed.append(worker)
            rows.append(
                Worker(
                    attempt=attempt,
                    role_id=roles[unit.job, worker.role],
                    index=worker.index,
                    rank=worker.rank if worker.rank >= 0 else None,
                    node_id=worker.node,
                    note=_worker_note(worker, fell_short.get(worker.role)),
                )
            )
    Worker.objects.bulk_create(rows, batch_size=BATCH)
    return list(zip(placed, rows, strict=True))


def _worker_note(worker: WorkerPlacement, short: Shortfall | None) -> str:
    """Why this worker sits below what its role preferred; its fellows may have got it."""
    is_below = short is not None and worker.quality < _QUALITY_OF[short.wanted]
    return shortfall_message(short) if short and is_below else ""


# Columns as arrays: a gang of thousands has tens of thousands of holds, and a statement with a placeholder for each
# of their columns takes longer to write than to run.
_INSERT_HOLDS = """
    INSERT INTO placements_devicehold
           (gpu_id, nic_id, worker_id, kind, milli, slices, profile, state, is_observed, since)
    SELECT gpu, nic, worker, kind, milli, CASE WHEN first IS NOT NULL THEN int4range(first, past) END, profile, state,
           false, %s
      FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::int[], %s::int[], %s::int[], %s::text[],
                  %s::text[]) AS hold(gpu, nic, worker, kind, milli, first, past, profile, state)"""

HoldRow = tuple[int | None, int | None, int, str, int, int | None, int | None, str, str]


def _write_holds(devices: Devices, pairs: Iterable[tuple[WorkerPlacement, Worker]], now: dt.datetime) -> None:
    rows = [hold for placed, worker in pairs for hold in _holds(devices, placed, worker)]
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(_INSERT_HOLDS, [now, *map(list, zip(*rows, strict=True))])


def _holds(devices: Devices, placed: WorkerPlacement, worker: Worker) -> Iterator[HoldRow]:
    """Rows in the order of the statement's columns; a MIG instance's slices are [first, past)."""
    is_nominated = worker.attempt.state == AttemptState.NOMINATED
    state = str(HoldState.NOMINATED if is_nominated else HoldState.HELD)
    for want in devices.wants(placed):
        first, past = want.slices or (None, None)
        yield want.gpu_id, None, worker.pk, str(want.kind), want.milli, first, past, want.profile, state
    nic_id = devices.nic_ids.get((placed.node, placed.nic))
    if nic_id is not None:
        yield None, nic_id, worker.pk, str(HoldKind.NIC), MILLI_PER_GPU, None, None, "", state


def _write_placements(cluster_id: int, attempts: Sequence[Attempt], now: dt.datetime) -> None:
    rows = [Placement(cluster_id=cluster_id, attempt=attempt, next_try=now) for attempt in attempts]
    Placement.objects.bulk_create(rows, batch_size=BATCH)
    of_attempt = {placement.attempt_id: placement.pk for placement in rows}
    named = Placement.workers.through
    workers = Worker.objects.filter(attempt__in=of_attempt).values_list("pk", "attempt_id")
    links = [named(placement_id=of_attempt[attempt_id], worker_id=pk) for pk, attempt_id in workers]
    named.objects.bulk_create(links, batch_size=BATCH)


def _messages(units: Sequence[Unit]) -> dict[int, str]:
    """One sentence per job: where it goes."""
    keys = {worker.node for unit in units for worker in unit.workers}
    names = dict(Node.objects.filter(pk__in=keys).values_list("pk", "name"))
    return {unit.job: placed_message(unit, names) for unit in units}
