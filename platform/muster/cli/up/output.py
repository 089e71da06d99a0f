"""What the children say: every line to a file of its own, and to the terminal behind a coloured name."""

import asyncio
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

COLOURS = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94)
NAME_WIDTH = 9
CHUNK = 64 * 1024
LARGEST_LOG = 10 * 2**20
"""Bytes; a longer log is moved to `.1` at the next start."""


class Output:
    """The terminal and the directory of log files of one supervisor. What `hidden` names goes to its file only."""

    def __init__(self, directory: Path, *, hidden: frozenset[str] = frozenset()) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._hidden = hidden
        self._colours: dict[str, int] = {}
        self._is_terminal = sys.stdout.isatty()

    def say(self, name: str, line: str) -> None:
        """Show one line of the process `name` on the terminal, unless there is nothing on it."""
        if name in self._hidden or not line.strip():
            return
        label = f"{name:>{NAME_WIDTH}} │ "
        if self._is_terminal:
            colour = self._colours.setdefault(name, COLOURS[len(self._colours) % len(COLOURS)])
            label = f"\x1b[{colour}m{label}\x1b[0m"
        print(label + line, flush=True)

    def log_of(self, name: str) -> Path:
        """The file that keeps what `name` said."""
        return self._directory / f"{name}.log"

    async def follow(self, name: str, pipe: int) -> None:
        """Copy what comes out of the pipe until it ends, and close it. Lines may be of any length."""
        stream = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(pipe, "rb")
        )
        with closing(transport):
            await self._copy_all(name, stream)

    async def _copy_all(self, name: str, stream: asyncio.StreamReader) -> None:
        path = self.log_of(name)
        if path.exists() and path.stat().st_size > LARGEST_LOG:
            path.replace(path.with_suffix(".log.1"))
        with path.open("ab") as log:
            rest = b""
            while chunk := await stream.read(CHUNK):
                rest = self._copy(name, rest + chunk, log)
            if rest:
                self._copy(name, rest + b"\n", log)

    def _copy(self, name: str, data: bytes, log: BinaryIO) -> bytes:
        """Write the whole lines of `data` and return what follows the last of them."""
        *lines, rest = data.split(b"\n")
        if len(rest) > CHUNK:
            lines, rest = [*lines, rest], b""
        for line in lines:
            log.write(line + b"\n")
            self.say(name, line.decode(errors="replace"))
        log.flush()
        return rest
