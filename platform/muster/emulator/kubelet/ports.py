"""Ports for the rendezvous of process pods: one per attempt, agreed on without a DNS name."""

import random
import socket

#: Below the range the kernel gives to outgoing connections, so that none of those takes a reserved port.
FIRST, LAST = 20_000, 32_000
ATTEMPT = "muster.scheduler/attempt"


class PortBook:
    """Reserved ports by attempt; an attempt keeps its port while any of its pods runs."""

    def __init__(self) -> None:
        self._ports: dict[str, int] = {}
        self._users: dict[str, set[str]] = {}

    def reserve(self, attempt: str, uid: str) -> int:
        if attempt not in self._ports:
            self._ports[attempt] = self._free_port()
        self._users.setdefault(attempt, set()).add(uid)
        return self._ports[attempt]

    def release(self, uid: str) -> None:
        for attempt, users in list(self._users.items()):
            users.discard(uid)
            if not users:
                del self._users[attempt], self._ports[attempt]

    def _free_port(self) -> int:
        taken = set(self._ports.values())
        for _ in range(200):
            port = random.randrange(FIRST, LAST)
            if port not in taken and _can_bind(port):
                return port
        raise OSError("no free loopback port for a rendezvous")


def _can_bind(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
