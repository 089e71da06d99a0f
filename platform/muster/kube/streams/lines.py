"""Keeping the end of a log that may be far larger than what is kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

KEPT_BYTES = 1 << 20
LAST_LINES = 40


@dataclass(frozen=True)
class Tail:
    """The last bytes of a log; `is_cut`: its beginning is missing, and it begins with a whole line."""

    content: bytes
    is_cut: bool

    @property
    def last_lines(self) -> str:
        """Its last lines, as shown with a failure."""
        return "\n".join(self.content.decode(errors="replace").splitlines()[-LAST_LINES:])


class TailKeeper:
    """Takes a log's chunks, keeps the last `most` bytes."""

    def __init__(self, most: int = KEPT_BYTES) -> None:
        self._most = most
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._is_cut = False

    def take(self, chunks: Iterable[bytes]) -> None:
        """Read to the end of `chunks`."""
        for chunk in chunks:
            self._chunks.append(chunk)
            self._size += len(chunk)
            while self._size - len(self._chunks[0]) >= self._most:
                self._size -= len(self._chunks.popleft())
                self._is_cut = True

    def tail(self) -> Tail:
        """What was kept so far."""
        content = b"".join(self._chunks)
        if len(content) > self._most:
            content, self._is_cut = content[-self._most :], True
        if self._is_cut:
            # A log that begins in the middle of a line would show half a number as a whole one.
            content = content[content.find(b"\n") + 1 :]
        return Tail(content, self._is_cut)
