"""What lies in Redis for live pages: a stream per topic, the last number of each, and the publisher's sign of life.

A stream's entry is one batch, already encoded as it goes to sockets; its id is `<seq>-0`, seq being the number of the last
Event in it. `prev` is the number of the batch before it in the same topic, so that a client notices a gap.
"""

from __future__ import annotations

from typing import Any

import orjson

LAST = "live:last"
"""Hash: topic to the number of its latest batch."""

WATCHED = "live:watched"
"""Sorted set: topic to when a hub last said that somebody watches it. Nobody's topics are numbered but not read: a page that
comes back to one finds a gap and takes a snapshot."""

ALIVE = "live:publisher"
"""Key that expires when no publisher is at work."""

ALIVE_MS = 5000
KEPT_SECONDS = 600
MAX_BATCHES = 3000
BODY = b"m"
PREV = b"p"


def stream(topic: str) -> str:
    """The Redis key of a topic's stream."""
    return f"live:stream:{topic}"


def entry_id(seq: int) -> str:
    """The stream id of a batch."""
    return f"{seq}-0"


def seq_of(entry: bytes) -> int:
    """The batch's number in a stream id."""
    return int(entry.partition(b"-")[0])


def delta(topic: str, *, seq: int, prev: int, put: list[dict[str, Any]], gone: list[str]) -> bytes:
    """A batch as sockets receive it."""
    return orjson.dumps({"topic": topic, "seq": seq, "prev": prev, "put": put, "gone": gone})


def snapshot(topic: str, *, seq: int, objects: list[dict[str, Any]]) -> bytes:
    """All of a topic, as of batch `seq`."""
    return orjson.dumps({"topic": topic, "seq": seq, "snapshot": objects})
