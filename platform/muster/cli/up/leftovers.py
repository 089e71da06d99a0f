"""Which processes a supervisor started, written down, so that the next one can end what a killed one left.

A process id is reused by the kernel. Nothing is signalled unless it is the process that was written down
(its start time and its program still agree) or carries this data directory in its environment.
"""

import json
import os
import signal
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

MARK = "MUSTER_SUPERVISED_FROM"
"""Environment variable of every child, with the data directory as value; its own children inherit it."""


@dataclass(frozen=True)
class Entry:
    """A process as written down: `started` is in clock ticks since boot, `program` a resolved path."""

    name: str
    pid: int
    started: int
    program: str

    def is_alive(self) -> bool:
        """Whether this very process still runs (a zombie does not)."""
        return start_time(self.pid) == self.started and _program(self.pid) in {self.program, None}


class Record:
    """The file in the data directory that holds the entries; replaced whole, so that it is never half."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries: dict[str, Entry] = {}

    def add(self, *, name: str, pid: int, program: str) -> None:
        """Write down that `name` now runs as `pid`."""
        started = start_time(pid)
        if started is not None:
            self._entries[name] = Entry(name, pid, started, program)
            self._write()

    def clear(self) -> None:
        """Everything has ended."""
        self._path.unlink(missing_ok=True)

    def read(self) -> list[Entry]:
        """What an earlier supervisor wrote; empty when it ended well, or the file is not ours."""
        try:
            return [Entry(**entry) for entry in json.loads(self._path.read_text())]
        except (FileNotFoundError, ValueError, TypeError):
            return []

    def _write(self) -> None:
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps([asdict(entry) for entry in self._entries.values()], indent=1))
        fresh.replace(self._path)


def sweep(record: Record, data_dir: Path, *, grace: float = 10.0) -> list[str]:
    """End what an earlier supervisor left, politely for `grace` seconds, then not. Returns what was found."""
    found = {entry.pid: entry.name for entry in record.read() if entry.is_alive()}
    found = dict.fromkeys(_marked(data_dir), "a child process") | found
    identity = {pid: started for pid in found if (started := start_time(pid)) is not None}
    _signal(identity, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while _remaining(identity) and time.monotonic() < deadline:
        time.sleep(0.05)
    _signal(_remaining(identity), signal.SIGKILL)
    while _remaining(identity):
        time.sleep(0.02)
    record.clear()
    return sorted(found.values())


def start_time(pid: int) -> int | None:
    """Clock ticks between boot and the start of `pid`; None when it is gone or only waits to be reaped."""
    try:
        # The name in parentheses may hold anything, spaces and parentheses too.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def _program(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/exe").readlink())
    except OSError:
        return None


def _marked(data_dir: Path) -> list[int]:
    """Processes that carry our mark. Redis and PostgreSQL overwrite theirs; those are in the record."""
    mark = f"{MARK}={data_dir}".encode()
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(directory.name) != os.getpid() and mark in (directory / "environ").read_bytes().split(b"\0"):
                found.append(int(directory.name))
    return found


def _remaining(identity: dict[int, int]) -> dict[int, int]:
    return {pid: started for pid, started in identity.items() if start_time(pid) == started}


def _signal(identity: dict[int, int], number: signal.Signals) -> None:
    for pid in _remaining(identity):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
