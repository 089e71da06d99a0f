"""What the tests of the command line share: a supervisor over small processes, and `muster` as a subprocess."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from muster.cli.up.leftovers import Record
from muster.cli.up.output import Output
from muster.cli.up.supervisor import Supervisor


@pytest.fixture
def supervisor(tmp_path: Path) -> Supervisor:
    """One with its record and logs in tmp_path."""
    return Supervisor(tmp_path, record=Record(tmp_path / "processes.json"), output=Output(tmp_path / "logs"))


@pytest.fixture
def free_port() -> int:
    """A port that nobody listens on."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


MusterStarter = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start_muster(tmp_path: Path, free_port: int) -> Iterator[MusterStarter]:
    """Starts `muster ARGUMENTS` with a data directory and a port of the test's own; what is left is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, **settings: str) -> subprocess.Popen[str]:
        environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
        environment |= {"MUSTER_DATA_DIR": str(tmp_path / "data"), "MUSTER_PORT": str(free_port)} | settings
        process = subprocess.Popen(
            [sys.executable, "-m", "muster.cli.main", *arguments],
            env=environment,
            stdout=(tmp_path / f"muster-{len(started)}.out").open("w"),
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        assert process.stderr is not None
        process.stderr.close()


def wait_for(condition: Callable[[], object], *, seconds: float = 20.0) -> None:
    """Return when the condition holds; fail the test when it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
