"""What a page does with the websocket's messages, without a page."""

from __future__ import annotations

from typing import Any

import orjson

from muster.realtime.hub import Hub, Socket


class Browser:
    """Keeps each topic's objects by the rules of the protocol, and subscribes again where they say so."""

    def __init__(self, hub: Hub, user: Any) -> None:
        self.hub = hub
        self.objects: dict[str, dict[str, dict[str, Any]]] = {}
        self.seq: dict[str, int] = {}
        self.denied: set[str] = set()
        self.counts = {"snapshot": 0, "delta": 0}
        self.user = user
        self.connect()

    def connect(self) -> None:
        """A new line."""
        self.socket = Socket(self.user, self._unused)
        self.hub.sockets.add(self.socket)

    def disconnect(self) -> None:
        """The line goes down; what was under way is lost."""
        self.hub.leave(self.socket)
        self.socket.drop_queue()

    async def watch(self, *topics: str) -> None:
        """Subscribe, from where this browser stands."""
        for topic in topics:
            await self.hub.subscribe(self.socket, topic, self.seq.get(topic))

    async def take(self) -> None:
        """Handle all that has arrived."""
        while self.socket.behind:
            await self._handle(orjson.loads(self.socket._queue.get_nowait()))

    async def _handle(self, message: dict[str, Any]) -> None:
        topic = message.get("topic", "")
        if message.get("denied"):
            self.denied.add(topic)
        elif "snapshot" in message:
            self.counts["snapshot"] += 1
            self.objects[topic] = {thing["id"]: thing for thing in message["snapshot"]}
            self.seq[topic] = message["seq"]
        elif "put" in message:
            await self._apply(topic, message)

    async def _apply(self, topic: str, message: dict[str, Any]) -> None:
        if message["prev"] != self.seq[topic]:
            self.seq.pop(topic)
            await self.watch(topic)
            return
        self.counts["delta"] += 1
        kept = self.objects[topic]
        for thing in message["put"]:
            if thing["version"] >= kept.get(thing["id"], thing)["version"]:
                kept[thing["id"]] = thing
        for name in message["gone"]:
            kept.pop(name, None)
        self.seq[topic] = message["seq"]

    def view(self, topic: str) -> dict[str, Any]:
        """What the page shows, versions aside; finished jobs leave a tenant's list."""
        kept = self.objects[topic].items()
        whole = {name: {k: v for k, v in thing.items() if k != "version"} for name, thing in kept}
        if topic.startswith("tenant/"):
            whole = {name: thing for name, thing in whole.items() if not thing["final"]}
        return whole

    async def _unused(self, message: bytes) -> None:
        raise AssertionError("this browser reads its queue itself")
