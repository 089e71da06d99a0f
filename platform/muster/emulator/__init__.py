"""A Kubernetes API in one process, with simulated nodes: for the demo, for tests, for fault injection.

It imports neither Django nor the `kubernetes` client, so that it starts in well under a second.
"""

from muster.emulator.server import EmulatorServer, running_emulator
from muster.emulator.settings import Settings

__all__ = ["EmulatorServer", "Settings", "running_emulator"]
