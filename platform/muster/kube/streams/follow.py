"""Following logs from an event loop: a thread per worker reads, the loop writes, and whoever leaves is noticed."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence

import orjson
import structlog
from asgiref.sync import sync_to_async

from muster.kube import errors
from muster.kube.gateway import Cut, Gateway
from muster.kube.streams.sources import Source, read

log = structlog.get_logger(__name__)

MOST_AT_ONCE = 64
#: Between two looks at a pod that has not started, or at rows whose pods are still to be made.
START_SECONDS = 0.5
#: Chunks kept for a reader who is slower than the logs; then the threads wait for him.
MOST_WAITING = 256


class _Reader(threading.Thread):
    """Reads one worker's log into the loop's queue, until it ends or is cut."""

    def __init__(self, source: Source, gateway: Gateway, tail: int | None, mouth: _Mouth) -> None:
        super().__init__(name=f"log-{source.pod}", daemon=True)
        self.cut = Cut()
        self._source, self._gateway, self._tail, self._mouth = source, gateway, tail, mouth

    def run(self) -> None:
        """A pod that is about to start is waited for; one that is gone, or a connection that is lost, ends its log."""
        try:
            while not self._is_read():
                time.sleep(START_SECONDS)
        except errors.KubeError as error:
            log.info("log.follow_ended", pod=self._source.pod, error=error.message)
        finally:
            self._mouth.say(self._source, None)

    def _is_read(self) -> bool:
        """Read to the end; False when the container has not started yet."""
        try:
            with self._gateway.log(
                self._source.namespace,
                self._source.pod,
                read_seconds=None,
                cut=self.cut,
                follow="true",
                tailLines=self._tail,
            ) as chunks:
                for chunk in chunks:
                    self._mouth.say(self._source, chunk)
        except errors.BadRequest:
            return self.cut.is_cut
        return True


class _Mouth:
    """The way from threads to the loop, with a bound."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._room = threading.Semaphore(MOST_WAITING)
        self._queue: asyncio.Queue[tuple[Source, bytes | None]] = asyncio.Queue()
        self._is_closed = False

    def say(self, source: Source, chunk: bytes | None) -> None:
        """From a thread: hand over a chunk, None at the end. Waits while the reader is behind."""
        self._room.acquire()
        if not self._is_closed:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, (source, chunk))

    async def hear(self) -> tuple[Source, bytes | None]:
        """In the loop: the next chunk of any worker."""
        heard = await self._queue.get()
        self._room.release()
        return heard

    def close(self) -> None:
        """Nobody listens any more: no thread may wait for room."""
        self._is_closed = True
        self._room.release(MOST_WAITING)


class Following:
    """The logs of some workers as one stream of bytes; closing it (as Django does when the reader leaves) ends its threads.

    `find` tells the workers, None as long as their pods are still to be made: that is waited for. Of workers that have ended,
    and past the 64th, it gives what there is; the others are followed.
    """

    def __init__(
        self, find: Callable[[], Sequence[Source] | None], gateway: Gateway | None, *, tail: int | None, is_merged: bool
    ) -> None:
        self._find, self._gateway, self._tail, self._is_merged = find, gateway, tail, is_merged
        self._readers: list[_Reader] = []
        self._mouth: _Mouth | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = self._chunks()
        if self._is_merged:
            async for lines in _merged(chunks):
                yield lines
        else:
            async for _source, chunk in chunks:
                yield chunk

    def close(self) -> None:
        """Nobody listens any more. From any thread, any number of times."""
        if self._mouth is not None:
            self._mouth.close()
        for reader in self._readers:
            reader.cut.now()

    async def _chunks(self) -> AsyncIterator[tuple[Source, bytes]]:
        while (sources := await sync_to_async(self._find)()) is None:
            await asyncio.sleep(START_SECONDS)
        live = [source for source in sources if source.is_live][:MOST_AT_ONCE] if self._gateway else []
        followed = {source.worker for source in live}
        for source in sources:
            if source.worker not in followed:
                content = await asyncio.to_thread(read, source, self._gateway, tail=self._tail)
                if content:
                    yield source, content
        if self._gateway is None or not live:
            return
        self._mouth = mouth = _Mouth()
        self._readers = [_Reader(source, self._gateway, self._tail, mouth) for source in live]
        for reader in self._readers:
            reader.start()
        open_count = len(live)
        while open_count:
            source, chunk = await mouth.hear()
            if chunk is None:
                open_count -= 1
            else:
                yield source, chunk


async def _merged(chunks: AsyncIterator[tuple[Source, bytes]]) -> AsyncIterator[bytes]:
    """Several logs as NDJSON, whole lines only until a log has ended."""
    rests: dict[str, tuple[Source, bytes]] = {}
    async for source, chunk in chunks:
        *lines, rest = (rests.pop(source.worker, (source, b""))[1] + chunk).split(b"\n")
        if rest:
            rests[source.worker] = (source, rest)
        if lines:
            yield b"".join(json_line(source, line) for line in lines)
    for source, rest in rests.values():
        yield json_line(source, rest)


def json_line(source: Source, line: bytes) -> bytes:
    """`{"worker": "worker-0", "rank": 0, "line": "…"}` and a line's end."""
    text = line.decode(errors="replace")
    return orjson.dumps({"worker": source.worker, "rank": source.rank, "line": text}) + b"\n"


def merged_now(sources: Sequence[Source], gateway: Gateway | None, *, tail: int | None) -> bytes:
    """The logs as they are now, worker after worker."""
    return b"".join(
        json_line(source, line) for source in sources for line in read(source, gateway, tail=tail).splitlines()
    )
