"""The emulator as a server: in an event loop of the caller's, or in a thread of its own."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from muster.emulator.api.app import build_app
from muster.emulator.settings import Settings
from muster.emulator.world import World


class EmulatorServer:
    """`async with EmulatorServer(port=0) as server: server.url`."""

    def __init__(self, settings: Settings | None = None, **changes: Any):
        self.settings = replace(settings or Settings(), **changes)
        self.world = World(self.settings)
        self.port = self.settings.port
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://{self.settings.host}:{self.port}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Load the cluster and listen; OSError when the port is taken."""
        await self.world.start()
        # Handlers are cancelled when their client leaves, so that an idle watch does not outlive it.
        self._runner = web.AppRunner(
            build_app(self.world, self.settings.token), access_log=None, handler_cancellation=True, shutdown_timeout=0.2
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.settings.host, self.settings.port, backlog=1024)
        try:
            await site.start()
        except OSError:
            await self.stop()
            raise
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Close all connections, end all processes, write the state."""
        if self._runner is not None:
            self.world.watches.order("end")
            await self._runner.cleanup()
            self._runner = None
        await self.world.stop()


@contextmanager
def running_emulator(settings: Settings | None = None, **changes: Any) -> Iterator[EmulatorServer]:
    """An emulator in a thread, for tests that do not run on an event loop."""
    server = EmulatorServer(settings, **changes)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="emulator", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(30)
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
