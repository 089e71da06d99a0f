"""A container that runs: simulated here, a local process in process.py. Both obey the same orders."""

import asyncio
from typing import NamedTuple, Protocol

from muster.emulator import clock
from muster.emulator.kubelet.behaviour import SIGKILL_CODE, Behaviour, SimulatedLines
from muster.emulator.kubelet.logs import ContainerLog


class Exit(NamedTuple):
    """How a container ended."""

    code: int
    reason: str  # Completed | Error | OOMKilled | …
    message: str = ""

    @classmethod
    def of_code(cls, code: int, reason: str | None = None) -> "Exit":
        return cls(code, reason or ("Completed" if code == 0 else "Error"))


class StopOrder:
    """SIGTERM now and SIGKILL after a grace; a later order may only shorten the grace."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.killed = asyncio.Event()
        self._deadline: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def give(self, grace: float) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + grace
        if self._deadline is not None and deadline >= self._deadline:
            return
        self._deadline = deadline
        if self._timer is not None:
            self._timer.cancel()
        self.asked.set()
        if grace <= 0:
            self.killed.set()
        else:
            self._timer = loop.call_at(deadline, self.killed.set)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class Container(Protocol):
    """What a pod worker drives."""

    log: ContainerLog

    async def run(self, order: StopOrder) -> Exit:
        """Until it ends by itself or as ordered."""


class SimulatedContainer:
    """Does what its pod's annotations say, and nothing else."""

    def __init__(self, behaviour: Behaviour, started: float):
        self._behaviour = behaviour
        self._started = started
        self.log = ContainerLog(SimulatedLines(behaviour, started))

    async def run(self, order: StopOrder) -> Exit:
        behaviour = self._behaviour
        left = None
        if behaviour.run_seconds is not None:
            left = max(self._started + behaviour.run_seconds - clock.now(), 0)
        if not await happens(order.asked, left):
            return Exit.of_code(behaviour.exit_code, behaviour.exit_reason)
        return await self._stop(order)

    async def _stop(self, order: StopOrder) -> Exit:
        behaviour = self._behaviour
        if order.killed.is_set():
            return Exit.of_code(SIGKILL_CODE)
        self.log.append(b"received SIGTERM\n")
        if await happens(order.killed, None if behaviour.ignores_sigterm else behaviour.checkpoint_seconds):
            return Exit.of_code(SIGKILL_CODE)
        said = _said(behaviour)
        if said:
            self.log.append(said.encode() + b"\n")
        # As a program that writes /dev/termination-log.
        return Exit.of_code(behaviour.checkpoint_exit_code)._replace(message=said)


def _said(behaviour: Behaviour) -> str:
    if behaviour.checkpoint_fails:
        return f"checkpoint failed: {behaviour.checkpoint_fails}"
    return "checkpoint saved" if behaviour.checkpoint_seconds > 0 else ""


async def happens(event: asyncio.Event, within: float | None) -> bool:
    """Wait for an event at most that many seconds (None: as long as it takes); whether it came."""
    try:
        async with asyncio.timeout(within):
            await event.wait()
    except TimeoutError:
        return False
    return True
