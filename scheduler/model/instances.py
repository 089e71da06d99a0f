"""MIG instances as the placement needs them: size, permitted starts, compute share. The tables are in `mig.py`."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.model.mig import PROFILES


@dataclass(frozen=True, slots=True)
class Instance:
    """One profile on one GPU model. Memory slices lie on an axis of 8 (4 on small GPUs)."""

    profile: str
    size: int
    """Memory slices."""
    compute: int
    """Compute slices."""
    starts: tuple[int, ...]
    total_compute: int

    def mask_at(self, start: int) -> int:
        """Mask of the memory slices it takes when it begins at `start`."""
        return ((1 << self.size) - 1) << start


def instances_of(model: str) -> tuple[Instance, ...]:
    """Profiles of a GPU model, largest first; empty where it cannot be partitioned."""
    return _TABLE.get(model, ())


_TABLE: dict[str, tuple[Instance, ...]] = {
    model: tuple(
        Instance(name, size=cut.memory, compute=cut.compute, starts=cut.starts, total_compute=geometry.compute)
        for name, cut in zip(names, geometry.cuts, strict=True)
    )
    for model, (geometry, names) in PROFILES.items()
}


def instance_of(model: str, profile: str) -> Instance | None:
    """The profile on this model, None where it has none of that name."""
    return next((one for one in instances_of(model) if one.profile == profile), None)
