"""What a container wrote: bounded, with the time of each line, and waited for by followers."""

import asyncio
from collections import deque
from itertools import islice
from typing import NamedTuple, Protocol

from muster.emulator import clock

#: Bytes kept per container; the oldest lines go first, as when a runtime rotates its log.
KEPT_BYTES = 8 << 20


class Line(NamedTuple):
    at: float  # seconds since the epoch
    text: bytes  # with its newline, if it had one


class LineSource(Protocol):
    """Lines that need no process: computed from the clock when somebody reads."""

    def due(self, now: float) -> list[Line]:
        """The lines since the last call, up to `now`."""

    def next_at(self) -> float | None:
        """When the next line comes; None after the last."""


class ContainerLog:
    """One container's log. `written` counts all lines that ever were; it is a reader's cursor."""

    def __init__(self, source: LineSource | None = None):
        self.is_closed = False
        self._source = source
        self._lines: deque[Line] = deque()
        self._bytes = 0
        self._dropped = 0
        self._changed = asyncio.Event()

    @property
    def written(self) -> int:
        self._catch_up()
        return self._dropped + len(self._lines)

    def append(self, *texts: bytes) -> None:
        """Add lines that were written now."""
        self._catch_up()
        at = clock.now()
        for text in texts:
            self._append(Line(at, text))
        self._wake()

    def close(self) -> None:
        """The container ended: followers finish."""
        self._catch_up()
        self._source = None
        self.is_closed = True
        self._wake()

    def lines(self) -> list[Line]:
        self._catch_up()
        return list(self._lines)

    def after(self, seen: int) -> tuple[list[Line], int]:
        """The lines behind a cursor, and the cursor behind them."""
        self._catch_up()
        written = self._dropped + len(self._lines)
        fresh = list(islice(reversed(self._lines), max(written - seen, 0)))
        return fresh[::-1], written

    async def wait(self, seen: int) -> None:
        """Until there is a line behind the cursor, or the log is closed."""
        while self.written <= seen and not self.is_closed:
            changed = self._changed
            next_at = self._source.next_at() if self._source else None
            try:
                async with asyncio.timeout(None if next_at is None else max(next_at - clock.now(), 0.001)):
                    await changed.wait()
            except TimeoutError:
                continue

    def _catch_up(self) -> None:
        if self._source is not None:
            for line in self._source.due(clock.now()):
                self._append(line)

    def _append(self, line: Line) -> None:
        self._lines.append(line)
        self._bytes += len(line.text)
        while self._bytes > KEPT_BYTES and len(self._lines) > 1:
            self._bytes -= len(self._lines.popleft().text)
            self._dropped += 1

    def _wake(self) -> None:
        """Wake all that wait; each waits on an event of its own generation."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
