"""Starts processes in waves, brings back what dies, and ends all of them.

Each child leads a process group of its own: Ctrl-C in the terminal reaches the supervisor alone, and a
child's own children can be ended with it. The kernel tells the children when the supervisor is killed.
"""

import asyncio
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from muster.cli.up.leftovers import MARK, Record
from muster.cli.up.output import Output
from muster.cli.up.services import Service

FIRST_DELAY = 0.5
LONGEST_DELAY = 15.0
STEADY_AFTER = 20.0
"""Seconds after which a process counts as well, and its next restart is quick again."""

DRAIN = 2.0
"""Seconds in which the last lines of a process that has ended are read."""


class StartError(Exception):
    """A process did not come up; the message names it and where its log is."""


class Keeper:
    """One service: runs it, and runs it again, until told to stop."""

    def __init__(self, service: Service, *, record: Record, output: Output, data_dir: Path) -> None:
        self.service = service
        self._record = record
        self._output = output
        self._environment = os.environ | service.environment | {MARK: str(data_dir)}
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = asyncio.Event()
        self._task = asyncio.create_task(self._keep())

    async def wait_ready(self, *, seconds: float) -> None:
        """Return once the service answers; `StartError` when it does not in time or keeps dying."""
        deadline = time.monotonic() + seconds
        while self.service.ready is not None and not await asyncio.to_thread(self.service.ready):
            if self._stopping.is_set():
                return
            if time.monotonic() > deadline:
                log = self._output.log_of(self.service.name)
                raise StartError(f"{self.service.name} did not start within {seconds:.0f} s: see {log}")
            await asyncio.sleep(0.1)

    async def stop(self) -> None:
        """End the process and its group: the stop signal, the grace, then SIGKILL."""
        self._stopping.set()
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(self.service.stop_signal)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), self.service.grace)
        self.kill()
        await self._task

    def kill(self) -> None:
        """SIGKILL to the process and everything in its group, now."""
        self._stopping.set()
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _keep(self) -> None:
        delay = FIRST_DELAY
        while not self._stopping.is_set():
            began = time.monotonic()
            code = await self._run_once()
            if self._stopping.is_set():
                return
            delay = FIRST_DELAY if time.monotonic() - began > STEADY_AFTER else min(delay * 2, LONGEST_DELAY)
            self._output.say(self.service.name, f"ended ({_cause(code)}); starts again in {delay:g} s")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), delay)

    async def _run_once(self) -> int:
        # A pipe of our own: asyncio's keeps wait() waiting for as long as any grandchild holds it open.
        reading, writing = os.pipe()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self.service.prefix,
                *self.service.command,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                start_new_session=True,
            )
        finally:
            os.close(writing)
        self._record.add(name=self.service.name, pid=self._process.pid, program=self.service.program)
        copying = asyncio.create_task(self._output.follow(self.service.name, reading))
        code = await self._process.wait()
        # What it started must not outlive it: a second worker beside the orphans of the first doubles the load.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        # A grandchild in a group of its own may hold the pipe open.
        with suppress(TimeoutError):
            await asyncio.wait_for(copying, DRAIN)
        return code


class Supervisor:
    """All services of one `muster up`, in the waves they were started in."""

    def __init__(self, data_dir: Path, *, record: Record, output: Output) -> None:
        self._data_dir = data_dir
        self._record = record
        self._output = output
        self._waves: list[list[Keeper]] = []

    async def start(self, services: list[Service], *, seconds: float = 30.0) -> None:
        """Start a wave and wait until each of its services answers."""
        wave = [
            Keeper(service, record=self._record, output=self._output, data_dir=self._data_dir) for service in services
        ]
        self._waves.append(wave)
        await asyncio.gather(*(keeper.wait_ready(seconds=seconds) for keeper in wave))

    async def stop(self) -> None:
        """End the waves, the last first: nothing loses its database or broker while it is still working."""
        while self._waves:
            await asyncio.gather(*(keeper.stop() for keeper in self._waves[-1]))
            self._waves.pop()
        self._record.clear()

    def kill(self) -> None:
        """SIGKILL to everything: the second Ctrl-C."""
        for keeper in (keeper for wave in self._waves for keeper in wave):
            keeper.kill()


def _cause(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
