"""World: one plan in the making. The snapshot, the working copies, the plugins, and the tables kept per ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.framework import Ask
from scheduler.model.columns import BoolArray
from scheduler.model.hardware import GpuModel
from scheduler.model.jobs import DeviceKind, JobShape
from scheduler.model.occupancy import Occupancy, Site, empty
from scheduler.model.policy import Policy
from scheduler.model.snapshot import Snapshot
from scheduler.model.verdict import Cause, Verdict, rank_of
from scheduler.place.models import serving_models
from scheduler.place.view import View
from scheduler.reserve.ledger import Ledger
from scheduler.reserve.quota import QuotaBook, model_choices

if TYPE_CHECKING:
    from numpy.random import Generator

    from scheduler.place.attempt import Refused
    from scheduler.registry import Plugins


@dataclass(frozen=True, slots=True)
class Permits:
    """Choices of one GPU model per role that quotas allow; `refusal` says why there is none."""

    choices: tuple[tuple[GpuModel | None, ...], ...]
    refusal: Verdict | None


class World:
    """Everything a plugin may look at. `prepared` holds what PreScore plugins made, by (plugin name, ask)."""

    def __init__(
        self,
        snapshot: Snapshot,
        policy: Policy,
        plugins: Plugins,
        *,
        now: float = 0.0,
        used: Occupancy | None = None,
    ) -> None:
        self.snapshot, self.policy, self.plugins, self.now = snapshot, policy, plugins, now
        self.layout = snapshot.layout
        self.ledger = Ledger(snapshot.occupancy.copy() if used is None else used)
        self.site = Site(self.layout, self.ledger.used)
        self.quota = QuotaBook(snapshot)
        self.prepared: dict[tuple[str, Ask], Any] = {}
        self.is_pristine = False
        self.rng: Generator | None = None
        """The only source of chance; no plugin of ours draws from it."""
        self.notes: dict[str, Any] = {}
        """State that plugins keep for the length of the plan, by name."""
        self.heads: dict[int, int] = {}
        """Per queue key, the first candidate that could not be placed."""
        self.refused: dict[Any, Refused] = {}
        """Shapes that found no place in this cycle (`place/attempt.py`)."""
        self.repeats = 0
        self.started_elastic: dict[int, int] = {}
        """Waiting row by key of the elastic jobs that this plan starts."""
        self.entered: list[int] = []
        """Node rows that the exclusive gang being placed sits on already."""
        self._views: dict[Ask, View] = {}
        self._fixed: dict[Ask, BoolArray] = {}
        self._models: dict[JobShape, tuple[tuple[GpuModel | None, ...], ...]] = {}
        self._asks: dict[tuple[JobShape, tuple[GpuModel | None, ...], frozenset[int]], tuple[Ask, ...]] = {}
        self._permits: dict[tuple[JobShape, int], tuple[int, Permits]] = {}

    def pristine(self) -> World:
        """The same nodes with nobody on them, all of them healthy and ready: what could ever run is judged there."""
        world = World(self.snapshot, self.policy, self.plugins, now=self.now, used=empty(self.layout, pristine=True))
        world.is_pristine = True
        return world

    def models_for(self, shape: JobShape) -> tuple[tuple[GpuModel | None, ...], ...]:
        """Per role, the GPU models that serve, in order; (None,) for a role without GPUs."""
        if shape not in self._models:
            self._models[shape] = tuple(
                (None,) if role.devices.kind == DeviceKind.NONE else tuple(serving_models(role, self.layout.models))
                for role in shape.roles
            )
        return self._models[shape]

    def asks(self, shape: JobShape, models: tuple[GpuModel | None, ...], avoid: frozenset[int]) -> tuple[Ask, ...]:
        """One ask per role, the same objects for every job of the shape."""
        key = shape, models, avoid
        if key not in self._asks:
            self._asks[key] = tuple(Ask(shape, position, model, avoid) for position, model in enumerate(models))
        return self._asks[key]

    def permits(self, shape: JobShape, queue: int) -> Permits:
        """The choices of models that the quotas allow now."""
        known = self._permits.get((shape, queue))
        if known is None or (known[0] != self.quota.version and self.quota.is_bounded(queue, shape)):
            known = self._permits[shape, queue] = (self.quota.version, self._ask_quota(shape, queue))
        return known[1]

    def _ask_quota(self, shape: JobShape, queue: int) -> Permits:
        allowed, refusals = [], []
        for models in model_choices(shape, self.models_for(shape)):
            demand = self.quota.demand(shape, models)
            verdict = self.quota.refusal(queue, demand, preemptible=shape.preemptible)
            if verdict is None:
                allowed.append(models)
            else:
                refusals.append(verdict)
        refusal = min(refusals, key=lambda verdict: rank_of(verdict.reason)) if refusals and not allowed else None
        return Permits(tuple(allowed), refusal)

    def row_of(self, node: int) -> int:
        """Row of a node by its key."""
        return int(np.searchsorted(self.layout.nodes.key, node))

    def view(self, ask: Ask) -> View:
        """Room and sort key of every node for this ask, up to date."""
        view = self._views.get(ask)
        if view is None:
            for name, plugin in self.plugins.pre_score.items():
                self.prepared[name, ask] = plugin.pre_score(self, ask)
            view = self._views[ask] = View(self, ask)
        view.refresh()
        return view

    def fixed_mask(self, ask: Ask) -> BoolArray:
        """[N] nodes that pass the filters which depend on nodes alone. Kept with the nodes, across plans."""
        if ask not in self._fixed:
            key = ("fixed", self.plugins.filters, ask, self.is_pristine)
            self._fixed[ask] = self.layout.keep(key, lambda: self.mask_of(ask))
        return self._fixed[ask]

    def mask_of(self, ask: Ask, *without: Cause) -> BoolArray:
        """[N] the same, worked out now; filters for some causes may be left out."""
        mask = np.ones(len(self.layout.nodes), dtype=np.bool_)
        for plugin in self.plugins.filters:
            if plugin.fixed and plugin.cause not in without and plugin.applies(ask):
                mask &= plugin.room(self, ask, slice(None)) > 0
        mask.flags.writeable = False
        return mask
