"""Reading logs to their very end while pods are being stopped: opened before the deletion, closed when the stream ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import structlog

from muster.kube import errors
from muster.kube.executor.requests import Json
from muster.kube.gateway import Gateway
from muster.kube.streams.lines import Tail, TailKeeper

log = structlog.get_logger(__name__)

MOST_AT_ONCE = 64
OPEN_SECONDS = 5.0


class Follower(threading.Thread):
    """Follows one pod's log. `is_open` is set once the server has answered, for better or worse."""

    def __init__(self, gateway: Gateway, pod: Json, *, read_seconds: float) -> None:
        meta = pod["metadata"]
        super().__init__(name=f"follow-{meta['name']}", daemon=True)
        self._gateway = gateway
        self._namespace, self._pod = meta["namespace"], meta["name"]
        self._read_seconds = read_seconds
        self._keeper = TailKeeper()
        self.is_open = threading.Event()

    def run(self) -> None:
        """Read until the log ends, the pod is killed, or nothing comes any more."""
        try:
            with self._gateway.log(
                self._namespace, self._pod, read_seconds=self._read_seconds, follow="true"
            ) as chunks:
                self.is_open.set()
                self._keeper.take(chunks)
        except errors.KubeError as error:
            log.info("log.follow_ended", pod=self._pod, error=error.message)
        finally:
            self.is_open.set()

    def tail(self) -> Tail | None:
        """What was read; None where nothing was."""
        tail = self._keeper.tail()
        return tail if tail.content else None


def follow(gateway: Gateway, pods: Sequence[Json], *, seconds: float) -> dict[str, Follower]:
    """Followers by pod name, each open (or refused) when this returns. `seconds`: how long silence is borne."""
    followers = {pod["metadata"]["name"]: Follower(gateway, pod, read_seconds=seconds) for pod in pods}
    for follower in followers.values():
        follower.start()
    deadline = time.monotonic() + OPEN_SECONDS
    for follower in followers.values():
        follower.is_open.wait(max(0.0, deadline - time.monotonic()))
    return followers
