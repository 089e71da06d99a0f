"""MIG geometry as facts: which instances a GPU model can be cut into, and where each may begin.

Starts are those that `nvidia-smi mig -lgipp` prints, identical on A100, H100 80GB and H100 NVL, as NVIDIA's MIG user guide
has them; for H200, B200 and GB200 the geometry follows from their published profile tables (`nvidia-smi mig -lgip` in
NVIDIA/mig-parted issues #120 and #227 and pull requests #166 and #187). go-nvml's mocks of H100, H200 and B200 carry wrong
placements.

Left out: the ``+me`` variants. They cut the same slices but hold a GPU's one set of media engines, which slice masks
cannot tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Cut(NamedTuple):
    """One way to cut an instance out of a GPU: compute slices, memory slices, permitted first memory slices."""

    compute: int
    memory: int
    starts: tuple[int, ...]


class Geometry(NamedTuple):
    """How a GPU is divided: its compute and memory slices, and its cuts, largest first."""

    compute: int
    memory: int
    cuts: tuple[Cut, ...]


SEVENTHS = Geometry(
    compute=7,
    memory=8,
    cuts=(
        Cut(7, 8, (0,)),
        Cut(4, 4, (0,)),
        Cut(3, 4, (0, 4)),
        Cut(2, 2, (0, 2, 4)),
        Cut(1, 2, (0, 2, 4, 6)),  # double memory
        Cut(1, 1, (0, 1, 2, 3, 4, 5, 6)),
    ),
)
QUARTERS = Geometry(compute=4, memory=4, cuts=(Cut(4, 4, (0,)), Cut(2, 2, (0, 2)), Cut(1, 1, (0, 1, 2, 3))))

_A100_40 = ("7g.40gb", "4g.20gb", "3g.20gb", "2g.10gb", "1g.10gb", "1g.5gb")
_A100_80 = ("7g.80gb", "4g.40gb", "3g.40gb", "2g.20gb", "1g.20gb", "1g.10gb")
_GB200 = ("7g.186gb", "4g.93gb", "3g.93gb", "2g.47gb", "1g.47gb", "1g.23gb")

PROFILES: Mapping[str, tuple[Geometry, tuple[str, ...]]] = {
    "A30-24GB": (QUARTERS, ("4g.24gb", "2g.12gb", "1g.6gb")),
    "A100-40GB": (SEVENTHS, _A100_40),
    "A100-PCIE-40GB": (SEVENTHS, _A100_40),
    "A100-80GB": (SEVENTHS, _A100_80),
    "A100-PCIE-80GB": (SEVENTHS, _A100_80),
    "H100-80GB": (SEVENTHS, _A100_80),
    "H100-PCIE-80GB": (SEVENTHS, _A100_80),
    "H100-NVL-94GB": (SEVENTHS, ("7g.94gb", "4g.47gb", "3g.47gb", "2g.24gb", "1g.24gb", "1g.12gb")),
    "H200-141GB": (SEVENTHS, ("7g.141gb", "4g.71gb", "3g.71gb", "2g.35gb", "1g.35gb", "1g.18gb")),
    "B200-180GB": (SEVENTHS, ("7g.180gb", "4g.90gb", "3g.90gb", "2g.45gb", "1g.45gb", "1g.23gb")),
    "GB200-192GB": (SEVENTHS, _GB200),
}
"""GPU model -> its geometry and the names of the cuts, in their order."""
