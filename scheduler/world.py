"""World: one plan in the making. The snapshot, the working copies, the plugins, and the tables kept per ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.framework import Ask
from scheduler.model.columns import BoolArray
from scheduler.model.hardware import GpuModel
from scheduler.model.jobs import NO_NODES, DeviceKind, JobShape
from scheduler.model.occupancy import Occupancy, empty
from scheduler.model.policy import Policy
from scheduler.model.snapshot import Snapshot
from scheduler.place.models import serving_models
from scheduler.place.view import View
from scheduler.reserve.ledger import Ledger
from scheduler.reserve.quota import QuotaBook

if TYPE_CHECKING:
    from scheduler.registry import Plugins


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
        self.quota = QuotaBook(snapshot)
        self.prepared: dict[tuple[str, Ask], Any] = {}
        self.is_pristine = False
        self._views: dict[Ask, View] = {}
        self._models: dict[JobShape, tuple[tuple[GpuModel | None, ...], ...]] = {}

    def pristine(self) -> World:
        """The same nodes with nobody on them, all of them healthy and ready: what could ever run is judged there."""
        world = World(
            self.snapshot, self.policy, self.plugins, now=self.now, used=empty(self.layout, pristine=True)
        )
        world.is_pristine = True
        return world

    def models_for(self, shape: JobShape) -> tuple[tuple[GpuModel | None, ...], ...]:
        """Per role, the GPU models that serve, in order; (None,) for a role without GPUs."""
        if shape not in self._models:
            self._models[shape] = tuple(
                (None,)
                if role.devices.kind == DeviceKind.NONE
                else tuple(serving_models(role, self.layout.models))
                for role in shape.roles
            )
        return self._models[shape]

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
        key = ("fixed", self.plugins.filters, ask, self.is_pristine)
        kept: dict[Any, Any] = self.layout.kept
        if key not in kept:
            mask = np.ones(len(self.layout.nodes), dtype=np.bool_)
            for plugin in self.plugins.filters:
                if plugin.fixed and plugin.applies(ask):
                    mask &= plugin.room(self, ask, slice(None)) > 0
            mask.flags.writeable = False
            kept[key] = mask
        found: BoolArray = kept[key]
        return found


def ask_for(shape: JobShape, position: int, model: GpuModel | None, avoid: frozenset[int] = NO_NODES) -> Ask:
    """An ask, with the nodes to avoid only where there are any."""
    return Ask(shape, position, model, avoid)


Models = Mapping[int, GpuModel | None]
