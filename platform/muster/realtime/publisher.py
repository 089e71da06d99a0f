"""The publisher: numbers Events, reads their rows, appends a batch per topic to its stream.

It writes Event.seq and nothing else. Streams are appended before the numbers are committed: a publisher that dies in between
leaves its Events unnumbered, and the next one sends the same objects again under higher numbers. Numbers come from a database
sequence and are never used twice, even so.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Iterable
from typing import Any, cast

import redis
import structlog
from django.db import connection, transaction

from muster.common.models import Event
from muster.realtime import streams, topics

log = structlog.get_logger(__name__)

GATHER_SECONDS = 0.2
MAX_EVENTS = 5000
LEADER_LOCK = 7_301_001
"""Key of the PostgreSQL advisory lock that makes one publisher the leader."""


class Publisher:
    """One leader's state: the Redis connection, and which numbers are how old, to trim streams by age."""

    def __init__(self, client: redis.Redis) -> None:
        self.redis = client
        self._ages: deque[tuple[float, int]] = deque()

    def publish_once(self) -> int:
        """Publish what is waiting, at most MAX_EVENTS; returns how many Events that were."""
        self.redis.set(streams.ALIVE, 1, px=streams.ALIVE_MS)
        with transaction.atomic():
            events = list(Event.objects.filter(seq=None).order_by("id").select_for_update()[:MAX_EVENTS])
            if not events:
                return 0
            seqs = _next_numbers(len(events))
            self._append(events, seqs[-1])
            for event, seq in zip(events, seqs, strict=True):
                event.seq = seq
            Event.objects.bulk_update(events, ["seq"], batch_size=1000)
        return len(events)

    def _append(self, events: list[Event], seq: int) -> None:
        by_topic: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        for event in events:
            by_topic[event.topic][event.kind].add(event.object_id)
        oldest = self._oldest_kept(seq)
        watched = self._watched()
        previous = cast(list[bytes | None], self.redis.hmget(streams.LAST, list(by_topic)))
        pipe = self.redis.pipeline(transaction=True)
        for (topic, kinds), prev in zip(by_topic.items(), previous, strict=True):
            if topic not in watched:
                continue
            put, gone = _read(topic, kinds)
            for thing in put:
                thing["version"] = seq
            body = streams.delta(topic, seq=seq, prev=int(prev or 0), put=put, gone=gone)
            key = streams.stream(topic)
            entry: dict[Any, Any] = {streams.BODY: body, streams.PREV: int(prev or 0)}
            pipe.xadd(key, entry, id=streams.entry_id(seq), maxlen=streams.MAX_BATCHES, approximate=True)
            pipe.xtrim(key, minid=streams.entry_id(oldest), approximate=True)
            pipe.expire(key, streams.KEPT_SECONDS)
        pipe.hset(streams.LAST, mapping=dict.fromkeys(by_topic, seq))
        pipe.execute()

    def _watched(self) -> set[str]:
        """Topics that somebody watches, or may still come back to."""
        since = time.time() - streams.KEPT_SECONDS
        self.redis.zremrangebyscore(streams.WATCHED, "-inf", since)
        topics_watched = cast(list[bytes], self.redis.zrange(streams.WATCHED, 0, -1))
        return {topic.decode() for topic in topics_watched}

    def _oldest_kept(self, seq: int) -> int:
        """The number below which batches are older than what a resume may ask for."""
        now = time.monotonic()
        self._ages.append((now, seq))
        while self._ages[0][0] < now - streams.KEPT_SECONDS:
            self._ages.popleft()
        return self._ages[0][1]


def _read(topic: str, kinds: dict[str, set[int]]) -> tuple[list[dict[str, object]], list[str]]:
    put: list[dict[str, object]] = []
    gone: list[str] = []
    for kind, ids in kinds.items():
        objects, missing = topics.read_some(topic, kind, ids)
        put += objects
        gone += missing
    return put, gone


def _next_numbers(count: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('live_seq') FROM generate_series(1, %s)", [count])
        return sorted(row[0] for row in cursor.fetchall())


def try_to_lead() -> bool:
    """Take the leader's lock for as long as this database session lives."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [LEADER_LOCK])
        return bool(cursor.fetchone()[0])


def run(client: redis.Redis, ticks: Iterable[object]) -> None:
    """Lead, or stand by until one may; publish every GATHER_SECONDS, once per item of `ticks`."""
    publisher = Publisher(client)
    leads = False
    for _ in ticks:
        began = time.monotonic()
        leads = leads or try_to_lead()
        count = publisher.publish_once() if leads else 0
        if count:
            log.debug("publisher.batch", events=count, ms=round((time.monotonic() - began) * 1000))
        if count < MAX_EVENTS:
            time.sleep(max(0.0, GATHER_SECONDS - (time.monotonic() - began)))
