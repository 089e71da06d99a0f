"""The gangs that live through it: sizes, what they do, and how each of them must end."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from muster.workloads.choices import JobState

EMULATED = "emulator.muster.dev/"


@dataclass
class Gang:
    """One job. `ends` are the states it may end in; a cancel may come too late."""

    number: int
    workers: int
    gpus: int
    seconds: float
    exit_code: int = 0
    is_cancelled: bool = False
    is_refused: bool = False
    job_id: int = 0

    @property
    def name(self) -> str:
        """Also the beginning of its pods' names."""
        return f"gang{self.number:02d}"

    @property
    def ends(self) -> set[str]:
        """How it may end."""
        own: set[str] = {JobState.FAILED if self.exit_code else JobState.SUCCEEDED}
        return own | {JobState.CANCELLED} if self.is_cancelled else own

    def document(self, queue: str) -> dict[str, Any]:
        """Its job file."""
        behaviour = {
            "run-seconds": self.seconds,
            "exit-code": self.exit_code,
            "log-lines": 2,
            "checkpoint-seconds": 0.2,
        }
        return {
            "name": self.name,
            "queue": queue,
            "image": "demo/gang",
            "workers": self.workers,
            "gpus": self.gpus,
            "cpus": 1,
            "memory": "1Gi",
            "checkpoint": {"grace": 5},
            "annotations": {f"{EMULATED}{key}": str(value) for key, value in behaviour.items()},
        }


def draw(rng: random.Random, count: int) -> list[Gang]:
    """Gangs of 1 to 8 workers; the third and every twelfth after it are of eight, and their fifth pod is refused once."""
    gangs = []
    for number in range(count):
        gang = Gang(number, rng.randint(1, 8), rng.choice((1, 1, 2, 4)), rng.uniform(2, 6))
        if number % 12 == 3:
            gang.workers, gang.gpus, gang.is_refused = 8, 2, True
        elif rng.random() < 0.15:
            gang.exit_code = 3
        elif rng.random() < 0.15:
            gang.is_cancelled = True
        gangs.append(gang)
    return gangs


class Submitter:
    """Sends gangs over REST, again and again until it has an answer: the web process is killed too."""

    def __init__(self, url: str, token: str, queue: str, *, meanwhile: Callable[[], None]) -> None:
        self._client = httpx.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=10)
        self._queue = queue
        self._meanwhile = meanwhile
        self.repeated = 0

    def submit(self, gang: Gang) -> None:
        """Once, whatever happens to the first answer: the idempotency key sees to it."""
        answer = self._insist("/api/v1/jobs/", gang.document(self._queue), {"idempotency-key": gang.name})
        gang.job_id = answer["id"]

    def cancel(self, gang: Gang) -> None:
        """End it, unless it has ended."""
        self._insist(f"/api/v1/jobs/{gang.job_id}/cancel/", {}, {})

    def _insist(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                answer = self._client.post(path, json=body, headers=headers)
                if answer.status_code < 300 or answer.status_code == httpx.codes.CONFLICT:
                    return dict(answer.json())
                if answer.status_code < 500:
                    raise AssertionError(f"{path}: {answer.status_code} {answer.text}")
            except httpx.HTTPError:
                pass
            self.repeated += 1
            self._meanwhile()
            time.sleep(0.3)
        raise AssertionError(f"{path}: no answer within two minutes")
