"""From rows to a Snapshot: columns by SQL, never model instances; changes applied to the one kept in memory.

Cycle and preview both read the world this way, each process keeping its own snapshot; only the cycle numbers the changes that
both follow.
"""

from muster.placements.load.loaded import Loaded
from muster.placements.load.memory import forget, load

__all__ = ["Loaded", "forget", "load"]
