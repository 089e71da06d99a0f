"""The score plugin `fragmentation`: the node on which the worker makes F+ grow least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.framework import Ask, Rows
from scheduler.model.columns import FloatArray
from scheduler.model.jobs import DeviceKind
from scheduler.score.bands import FULL, Band
from scheduler.score.frag.growth import growth, in_steps, tightest
from scheduler.score.frag.learn import mix_of, rest_of, task_of
from scheduler.score.frag.mix import Mix, WorkloadMix
from scheduler.score.frag.tables import LEFT_VALUES, Tables, Terms

if TYPE_CHECKING:
    from scheduler.world import World

_NOTE = "fragmentation"
_MIDDLE = FULL / 2
_PER_STEP = FULL / Band.POLICY.steps
"""One step of growth is one step of the band: coarse scores stay as coarse as they are."""


@dataclass(frozen=True)
class Fragmentation:
    """`phi`: the table φ (1,001 values, `muster.cycle.mix.usable_share`); empty leaves the waste term out.

    The mix is the policy's, else that of the snapshot's jobs.
    """

    phi: tuple[float, ...] = ()
    alpha: float = Terms.alpha
    beta: float = Terms.beta
    step: int = Terms.step
    band: ClassVar[Band] = Band.POLICY
    per_count: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if len(self.phi) not in {0, LEFT_VALUES}:
            raise ValueError(f"phi has {len(self.phi)} values, not {LEFT_VALUES}")
        if self.step < 1:
            raise ValueError("step must be at least 1 milli-GPU")

    def applies(self, ask: Ask) -> bool:
        """MIG instances and time slices leave no rest that a share could use."""
        return ask.role.devices.kind in {DeviceKind.NONE, DeviceKind.WHOLE, DeviceKind.SHARE}

    def score(self, world: World, ask: Ask, rows: Rows, workers: int) -> FloatArray:
        tables = self._tables(world)
        task = task_of(ask.role, [ask.model] if ask.model else world.layout.models)
        if task is None:
            return np.full(len(world.layout.gpu_count[rows]), _MIDDLE)
        rest = rest_of(world.layout, world.ledger.used, rows)
        found = growth(tables, rest, task, tightest(rest, task) if task.is_share else None)
        return np.clip(_MIDDLE - in_steps(tables, found) * _PER_STEP, 0.0, FULL)

    def _tables(self, world: World) -> Tables:
        """Built once per plan."""
        if _NOTE not in world.notes:
            mix: WorkloadMix = world.policy.mix or mix_of(world.snapshot)
            columns = Mix.build(mix, [model.name for model in world.layout.models])
            usable = np.array(self.phi) if self.phi else None
            terms = Terms(self.alpha if self.phi else 0.0, self.beta, self.step)
            world.notes[_NOTE] = Tables.build(columns, usable, terms)
        tables: Tables = world.notes[_NOTE]
        return tables
