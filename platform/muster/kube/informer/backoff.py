"""Waiting longer after each failure, never in step with other clients."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class Backoff:
    """Seconds to wait before the next try: doubled from `first` to at most `most`, of which a random half is taken off."""

    first: float = 0.2
    most: float = 30.0
    rng: random.Random = field(default_factory=random.Random)
    failures: int = 0

    def next(self, *, at_least: float = 0.0, most: float | None = None) -> float:
        """How long to wait after one more failure."""
        ceiling = self.most if most is None else most
        seconds = min(self.first * 2**self.failures, ceiling)
        self.failures = min(self.failures + 1, 30)
        return max(at_least, seconds * (0.5 + self.rng.random() / 2))

    def reset(self) -> None:
        """It worked."""
        self.failures = 0
