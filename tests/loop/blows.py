"""What is done to the platform and to the API server while the gangs run."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable

from tests.loop.gangs import Gang
from tests.support.kubernetes import Faults
from tests.support.stage import Stage

KILLED = ("web", "cycle", "kube", "informer")
WATCH_ORDERS = ("end", "cut", "cut-mid-line", "stall", "expire")
KINDS = ("pods", "nodes", "services")


class Blows:
    """Strikes at random, and counts."""

    def __init__(self, stage: Stage, faults: Faults, rng: random.Random) -> None:
        self._stage, self._faults, self._rng = stage, faults, rng
        self.struck: Counter[str] = Counter()
        self._down: dict[str, float] = {}
        self._refused: dict[str, Gang] = {}
        self._deck: list[str] = []

    def refuse_fifth_pods(self, gangs: list[Gang]) -> None:
        """Of each gang that is to be refused, the fifth pod, once."""
        for gang in gangs:
            if gang.is_refused:
                self._refuse(gang)
                self.struck["refused fifth pod"] += 1

    def _refuse(self, gang: Gang) -> None:
        self._refused[f"{gang.name}-.*"] = gang
        self._faults.add(code=403, method="POST", path="/pods$", name=f"{gang.name}-.*", skip=4, times=1)

    def strike(self) -> None:
        """One blow: a process killed more often than not, else the API server or the way to it."""
        if self._rng.random() < 0.5:
            self._kill()
        else:
            name, blow = self._rng.choice(self._outages())
            blow()
            self.struck[name] += 1

    def raise_the_dead(self, *, all_of_them: bool = False) -> None:
        """Start again what was killed and has been down long enough, as the supervisor would."""
        now = time.monotonic()
        for name, until in list(self._down.items()):
            if all_of_them or now >= until:
                del self._down[name]
                self._stage.start(name)

    def end(self) -> None:
        """No more faults, but for the refusals of gangs that have not come to it yet; everything runs."""
        open_refusals = [
            rule["name"] for rule in self._faults.rules() if rule["name"] in self._refused and not rule["hits"]
        ]
        self._faults.clear()
        for name in open_refusals:
            self._refuse(self._refused[name])
        self.raise_the_dead(all_of_them=True)

    def _kill(self) -> None:
        """Each of them once before any of them twice."""
        if not self._deck:
            self._deck = self._rng.sample(KILLED, len(KILLED))
        name = self._deck.pop()
        if name in self._down:
            self.raise_the_dead(all_of_them=True)
        self._stage.kill(name)
        self._down[name] = time.monotonic() + self._rng.uniform(0.2, 3.0)
        self.struck[f"{name} killed"] += 1

    def _outages(self) -> list[tuple[str, Callable[[], None]]]:
        rng, faults = self._rng, self._faults
        seed = rng.randrange(1 << 30)
        return [
            ("watches cut", lambda: [faults.watches(rng.choice(WATCH_ORDERS), kind) for kind in KINDS] and None),
            ("history forgotten", lambda: (faults.compact(), faults.watches("cut", "pods"))[0]),
            ("500", lambda: faults.add(code=500, probability=0.4, times=30, seed=seed)),
            ("429", lambda: faults.add(code=429, retry_after=1, probability=0.4, times=30, seed=seed)),
            ("410", lambda: faults.add(code=410, method="WATCH", times=3)),
            ("hang", lambda: faults.add(action="hang", seconds=3, probability=0.2, times=10, seed=seed)),
            ("dropped", lambda: faults.add(action="drop", probability=0.3, times=20, seed=seed)),
            (
                "answers lost",
                lambda: faults.add(action="lose-reply", method="POST", probability=0.3, times=15, seed=seed),
            ),
            ("connection cut", self._freeze),
        ]

    def _freeze(self) -> None:
        """Nothing comes and nothing goes, without a word, as when a network fails."""
        emulator = self._stage.running["emulator"]
        emulator.send_signal(signal.SIGSTOP)
        time.sleep(self._rng.uniform(0.5, 2.5))
        emulator.send_signal(signal.SIGCONT)
