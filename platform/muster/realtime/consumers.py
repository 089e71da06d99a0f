"""The websocket that pages keep open: `{sub: topic, since?}` and `{unsub: topic}` in, batches out."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer

from muster.realtime.hub import Hub, Socket, the_hub

MAX_TOPICS = 32


class LiveConsumer(AsyncWebsocketConsumer):
    """One browser tab. Joins no channel group; the process's hub feeds it."""

    hub: Hub
    socket: Socket
    pump: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Accept people who are signed in."""
        if not self.scope["user"].is_authenticated:
            await self.close(code=4401)
            return
        await self.accept()
        self.hub = the_hub()
        self.socket = Socket(self.scope["user"], self._send_bytes)
        self.hub.sockets.add(self.socket)
        self.pump = asyncio.create_task(self.socket.pump())

    async def _send_bytes(self, message: bytes) -> None:
        await self.send(text_data=message.decode())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Answer one request; what is not one is told so and harms nothing."""
        request = _parse(text_data)
        if request is None:
            self.socket.put(orjson.dumps({"error": "Send {sub: topic, since?} or {unsub: topic}."}))
        elif "unsub" in request:
            self.hub.unsubscribe(self.socket, request["unsub"])
        elif len(self.socket.watched) >= MAX_TOPICS:
            self.socket.put(
                orjson.dumps({"topic": request["sub"], "denied": True, "error": f"At most {MAX_TOPICS} topics."})
            )
        else:
            await self.hub.subscribe(self.socket, request["sub"], request.get("since"))

    async def disconnect(self, code: int) -> None:
        """Leave the hub."""
        if self.pump is not None:
            self.pump.cancel()
            self.hub.leave(self.socket)
        raise StopConsumer


def _parse(text: str | None) -> dict[str, Any] | None:
    try:
        request = orjson.loads(text or "")
    except orjson.JSONDecodeError:
        return None
    if not isinstance(request, dict) or not isinstance(request.get("since", 0), int | None):
        return None
    topic = request.get("sub", request.get("unsub"))
    return request if isinstance(topic, str) and len(topic) <= 64 else None
