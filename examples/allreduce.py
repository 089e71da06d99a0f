# ruff: noqa: T201  its log is what it prints
"""A ring all-reduce in the standard library, between processes that find each other as any training job does.

Each worker has a vector; after every round all have the sum of all vectors, and each number has crossed each link of
the ring only twice: a reduce-scatter, then an all-gather. The workers meet at MASTER_ADDR:MASTER_PORT, where rank 0
listens; RANK and WORLD_SIZE say who is who.

Settings, by environment: ROUNDS (10), SECONDS the whole run takes at least (0), LENGTH of the vector (4096),
TIMEOUT in seconds for meeting and for each message (60), MUSTER_FAIL_RANK the rank that exits with 1 halfway.
Exit codes: 0 right sum · 1 wrong sum, failed on order, or a peer lost · 143 stopped by SIGTERM, checkpoint saved.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
import time
from array import array

RANK = int(os.environ.get("RANK", "0"))
WORLD = int(os.environ.get("WORLD_SIZE", "1"))
MASTER = (os.environ.get("MASTER_ADDR", "127.0.0.1"), int(os.environ.get("MASTER_PORT", "29500")))
ROUNDS = int(os.environ.get("ROUNDS", "10"))
SECONDS = float(os.environ.get("SECONDS", "0"))
LENGTH = int(os.environ.get("LENGTH", "4096"))
TIMEOUT = float(os.environ.get("TIMEOUT", "60"))
FAIL_RANK = os.environ.get("MUSTER_FAIL_RANK", "")
STOPPED = 143


class PeerLost(Exception):
    """A worker went away, or did not come."""


def say(text: str) -> None:
    print(f"[rank {RANK}/{WORLD}] {text}", flush=True)


def send(link: socket.socket, payload: bytes) -> None:
    link.sendall(struct.pack("!I", len(payload)) + payload)


def receive(link: socket.socket) -> bytes:
    (size,) = struct.unpack("!I", receive_exactly(link, 4))
    return receive_exactly(link, size)


def receive_exactly(link: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = link.recv(min(size, 1 << 20))
        if not part:
            raise PeerLost("a peer closed its connection")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def connect(address: tuple[str, int]) -> socket.socket:
    """Keep trying: the other side may start later than this one."""
    end = time.monotonic() + TIMEOUT
    while True:
        try:
            link = socket.create_connection(address, timeout=TIMEOUT)
        except OSError as error:
            if time.monotonic() > end:
                raise PeerLost(f"nobody answers at {address[0]}:{address[1]}: {error}") from error
            time.sleep(0.05)
        else:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return link


def rendezvous(port: int) -> list[tuple[str, int]]:
    """Tell rank 0 at which port this worker listens; learn where all do."""
    if RANK != 0:
        with connect(MASTER) as link:
            send(link, json.dumps([RANK, port]).encode())
            return [(host, at) for host, at in json.loads(receive(link))]
    addresses = {0: (MASTER[0], port)}
    links = []
    with socket.create_server(("", MASTER[1]), backlog=WORLD) as door:
        door.settimeout(TIMEOUT)
        while len(addresses) < WORLD:
            link, (host, _) = door.accept()
            link.settimeout(TIMEOUT)
            rank, at = json.loads(receive(link))
            addresses[rank] = (host, at)
            links.append(link)
            say(f"{len(addresses)} of {WORLD} workers have met")
    for link in links:
        send(link, json.dumps([addresses[rank] for rank in range(WORLD)]).encode())
        link.close()
    return [addresses[rank] for rank in range(WORLD)]


def join_ring() -> tuple[socket.socket, socket.socket]:
    """Connections to the next worker and from the one before."""
    with socket.create_server(("", 0), backlog=1) as door:
        door.settimeout(TIMEOUT)
        book = rendezvous(door.getsockname()[1])
        following = connect(book[(RANK + 1) % WORLD])
        before, _ = door.accept()
        before.settimeout(TIMEOUT)
    return following, before


def exchange(following: socket.socket, before: socket.socket, chunk: array[float]) -> array[float]:
    """Send a chunk on and receive another. Odd ranks listen first: were all to send, full buffers would stop the ring."""
    if RANK % 2:
        received = receive(before)
        send(following, chunk.tobytes())
    else:
        send(following, chunk.tobytes())
        received = receive(before)
    return array("d", received)


def all_reduce(vector: array[float], following: socket.socket, before: socket.socket) -> None:
    """Sum the vectors of all workers, in place."""
    bounds = [len(vector) * at // WORLD for at in range(WORLD + 1)]

    def part(at: int) -> slice:
        return slice(bounds[at % WORLD], bounds[at % WORLD + 1])

    for step in range(WORLD - 1):  # reduce-scatter: each worker ends with one chunk summed over all
        received = exchange(following, before, vector[part(RANK - step)])
        place = part(RANK - step - 1)
        vector[place] = array("d", (mine + theirs for mine, theirs in zip(vector[place], received, strict=True)))
    for step in range(WORLD - 1):  # all-gather: the summed chunks go round
        vector[part(RANK - step)] = exchange(following, before, vector[part(RANK + 1 - step)])


def checked_sum(vector: array[float], turn: int) -> float:
    """The sum of the vector; ValueError when an element is not what all workers' vectors add up to."""
    ranks = WORLD * (WORLD + 1) / 2
    for at in (0, LENGTH // 2, LENGTH - 1):
        expected = ranks * (turn + 1) + WORLD * at
        if vector[at] != expected:
            raise ValueError(f"element {at} is {vector[at]}, not {expected}")
    return float(sum(vector))


def work(following: socket.socket, before: socket.socket) -> float:
    total = 0.0
    for turn in range(ROUNDS):
        if str(RANK) == FAIL_RANK and turn == ROUNDS // 2:
            say("failing on order")
            sys.exit(1)
        vector = array("d", ((RANK + 1) * (turn + 1) + at for at in range(LENGTH)))
        all_reduce(vector, following, before)
        total = checked_sum(vector, turn)
        say(f"round {turn + 1}/{ROUNDS} sum={total:.0f}")
        time.sleep(SECONDS / ROUNDS)
    return total


def stop(*_: object) -> None:
    say("checkpoint saved")
    os._exit(STOPPED)


def main() -> int:
    signal.signal(signal.SIGTERM, stop)
    say(f"meeting at {MASTER[0]}:{MASTER[1]}")
    try:
        following, before = join_ring()
        with following, before:
            total = work(following, before)
    except (PeerLost, OSError) as error:
        say(f"lost a peer: {error}")
        return 1
    except ValueError as error:
        say(f"wrong sum: {error}")
        return 1
    say(f"sum ok: {total:.0f} over {WORLD} workers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
