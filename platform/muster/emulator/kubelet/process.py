"""A container that is a local process: the image `muster/process`."""

import asyncio
import atexit
import contextlib
import ctypes
import os
import signal
from pathlib import Path

from muster.emulator.kubelet.containers import Exit, StopOrder
from muster.emulator.kubelet.environment import BrokenPod, Launch
from muster.emulator.kubelet.logs import ContainerLog

IMAGE = "muster/process"
#: Names the emulator in the environment of its processes, so that a later one finds what a killed one left.
MARK = "MUSTER_EMULATOR"
#: A line longer than this is kept in pieces.
LONGEST_LINE = 1 << 20
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)
_living: set[int] = set()  # process groups


def is_process_image(image: str) -> bool:
    return image.partition("@")[0].rpartition(":")[0] == IMAGE or image == IMAGE


def _die_with_parent() -> None:
    """In the child, before exec: the kernel kills it when the emulator dies, however it dies."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@atexit.register
def kill_all() -> None:
    """End every group that is still there; the last resort on the way out."""
    for group in tuple(_living):
        kill_group(group, signal.SIGKILL)


def kill_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


class ProcessContainer:
    """Runs a command in its own process group; its output is the container's log."""

    def __init__(self, launch: Launch, mark: str):
        self._launch = launch
        self._env = {**launch.env, MARK: mark}
        self._process: asyncio.subprocess.Process | None = None
        self.log = ContainerLog()

    async def start(self) -> None:
        """Start it; raises BrokenPod when there is no such command."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._launch.command,
                env=self._env,
                cwd=self._launch.folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        except OSError as error:
            word = self._launch.command[0]
            raise BrokenPod(f'exec: "{word}": {error.strerror or error}') from error
        _living.add(self._process.pid)

    async def run(self, order: StopOrder) -> Exit:
        process = self._process
        if process is None:
            raise RuntimeError("start() comes first")
        reader = asyncio.create_task(self._read_output(process))
        ended = asyncio.create_task(process.wait())
        try:
            if not await _before(ended, order.asked):
                kill_group(process.pid, signal.SIGKILL if order.killed.is_set() else signal.SIGTERM)
                if not await _before(ended, order.killed):
                    kill_group(process.pid, signal.SIGKILL)
            code = await ended
        finally:
            # What the process left behind in its group goes with it; that also ends the pipe it wrote to.
            kill_group(process.pid, signal.SIGKILL)
            _living.discard(process.pid)
            await asyncio.wait({ended, reader}, timeout=2)
            reader.cancel()
        return Exit.of_code(code if code >= 0 else 128 - code)

    async def _read_output(self, process: asyncio.subprocess.Process) -> None:
        stream = process.stdout
        if stream is None:
            return
        rest = b""
        while chunk := await stream.read(1 << 16):
            *lines, rest = (rest + chunk).split(b"\n")
            if lines:
                self.log.append(*(line + b"\n" for line in lines))
            if len(rest) > LONGEST_LINE:
                self.log.append(rest)
                rest = b""
        if rest:
            self.log.append(rest)


async def _before(ended: "asyncio.Task[int]", event: asyncio.Event) -> bool:
    """Whether the process ended before the event came."""
    waiter = asyncio.create_task(event.wait())
    try:
        await asyncio.wait({ended, waiter}, return_when=asyncio.FIRST_COMPLETED)
        return ended.done()
    finally:
        waiter.cancel()


def sweep(mark: str) -> int:
    """Kill what an emulator with the same mark left running; how many processes that were."""
    wanted = f"{MARK}={mark}".encode()
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environ = (folder / "environ").read_bytes()
        except OSError:
            continue
        if wanted in environ.split(b"\0"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(folder.name), signal.SIGKILL)
                found += 1
    return found
