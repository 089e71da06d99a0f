"""The commit of one plan."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F

from muster.clusters.models import Cluster
from muster.common import bells
from muster.cycle import metrics
from muster.cycle.commit.devices import Devices, without_conflicts
from muster.cycle.commit.fresh import fresh_units, lock_rows
from muster.cycle.commit.rows import write_units
from muster.cycle.commit.stops import write_stops
from muster.cycle.commit.verdicts import write_verdicts
from muster.placements.actions.ending import ring_executor
from muster.placements.load import Loaded
from scheduler.model.plan import Plan

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a plan. `was_thrown_away`: another commit came first, or the database refused it."""

    committed: int = 0
    dropped: int = 0
    was_thrown_away: bool = False


THROWN_AWAY = Outcome(was_thrown_away=True)


def commit(loaded: Loaded, plan: Plan, now: dt.datetime) -> Outcome:
    """Write what the plan decided. A unit is written whole or dropped, with every later one that counts on its devices.

    Units whose rows changed since they were read are dropped; another commit since then throws the whole plan away, and so does
    a violated constraint, which can only be a plan that contradicts itself or rows that were written past every rule.
    """
    try:
        with transaction.atomic():
            if not _pass_fence(loaded):
                return THROWN_AWAY
            locked = lock_rows(loaded, plan.units)
            devices = Devices(loaded, plan.units)
            units = without_conflicts(fresh_units(loaded, plan.units, locked), devices)
            if units:
                write_stops(units, locked)
                write_units(loaded.cluster_id, units, locked=locked, devices=devices, now=now)
                ring_executor(loaded.cluster_id)
            write_verdicts(loaded, plan, now)
    except IntegrityError as error:
        log.error("commit.violation", cluster=loaded.cluster_name, error=str(error))
        bells.ring_cycle(loaded.cluster_id)
        return THROWN_AWAY
    outcome = Outcome(committed=len(units), dropped=len(plan.units) - len(units))
    if outcome.dropped:
        bells.ring_cycle(loaded.cluster_id)
    _count(loaded.cluster_name, outcome)
    return outcome


def _pass_fence(loaded: Loaded) -> bool:
    """Raise the epoch, unless another commit has done so since this plan's rows were read."""
    mine = Cluster.objects.filter(pk=loaded.cluster_id, epoch=loaded.epoch)
    return bool(mine.update(epoch=F("epoch") + 1))


def _count(cluster: str, outcome: Outcome) -> None:
    metrics.UNITS.labels(cluster, "committed").inc(outcome.committed)
    metrics.UNITS.labels(cluster, "dropped").inc(outcome.dropped)
