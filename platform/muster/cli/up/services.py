"""One process as the supervisor sees it."""

import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Service:
    """What to run, under which name, and how to end it."""

    name: str
    command: list[str]
    """Without the prefix: its first word is the program that will be running."""
    prefix: list[str] = field(default_factory=list)
    """Programs that set something up and then become the command (`setpriv`, `unshare`)."""
    environment: dict[str, str] = field(default_factory=dict)
    ready: Callable[[], bool] | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    grace: float = 8.0
    """Seconds between the stop signal and SIGKILL."""

    @property
    def program(self) -> str:
        """The running program's file, links resolved, as /proc/PID/exe shows it."""
        return str(Path(shutil.which(self.command[0]) or self.command[0]).resolve())
