"""An emulator in a thread, and a client that speaks plain JSON to it."""

from collections.abc import Iterator

import pytest

from muster.emulator import EmulatorServer, running_emulator
from tests.emulator.client import Client


@pytest.fixture
def server() -> Iterator[EmulatorServer]:
    """Two DGX H100 nodes, `node-00000` and `node-00001`; a fresh emulator for each test."""
    with running_emulator(nodes=2, bookmark_seconds=0.2, pod_gc_seconds=0.2) as running:
        yield running


@pytest.fixture
def client(server: EmulatorServer) -> Iterator[Client]:
    with Client(server.url) as connected:
        yield connected
