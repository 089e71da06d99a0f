"""`muster up` as a story: it starts, what is killed comes back, and nothing is left when it ends."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from muster.cli.up.leftovers import MARK, Record, start_time
from tests.cli.conftest import MusterStarter, wait_for

SECONDS_TO_START = 120.0  # on two busy cores; on idle ones it takes under twenty

pytestmark = [pytest.mark.loop, pytest.mark.slow]


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


def processes(data_dir: Path) -> dict[str, int]:
    """Name and process id of what the supervisor says is running."""
    return {entry.name: entry.pid for entry in Record(data_dir / "processes.json").read() if entry.is_alive()}


def marked(data_dir: Path) -> list[str]:
    """Command lines of all that carry the data directory's mark, and of its engines."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            environment, command = (directory / "environ").read_bytes(), (directory / "cmdline").read_bytes()
        except OSError:
            continue
        is_alive = start_time(int(directory.name)) is not None
        if is_alive and (f"{MARK}={data_dir}".encode() in environment or str(data_dir).encode() in command):
            found.append(command.replace(b"\0", b" ").decode())
    return found


def is_healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return set(json.load(answer).values()) == {"ok"}
    except (OSError, ValueError):
        return False


def unwell(data_dir: Path, port: int) -> set[str]:
    """The parts that `muster doctor` finds something wrong with."""
    environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    done = subprocess.run(
        [sys.executable, "-m", "muster.cli.main", "doctor", "--json"],
        env=environment | {"MUSTER_DATA_DIR": str(data_dir), "MUSTER_PORT": str(port)},
        capture_output=True,
        text=True,
        check=False,
    )
    return {finding["part"] for finding in json.loads(done.stdout) if not finding["is_well"]}


def kill_and_expect_back(data_dir: Path, name: str) -> None:
    before = processes(data_dir)[name]
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: processes(data_dir).get(name, before) != before)


def test_story(start_muster: MusterStarter, data_dir: Path, free_port: int) -> None:
    first = start_muster("up")
    wait_for(lambda: is_healthy(free_port), seconds=SECONDS_TO_START)
    assert unwell(data_dir, free_port) <= {"clusters", "publisher", "workers"}  # those may still be starting

    # Two supervisors on one data directory would sweep each other away.
    second = start_muster("up")
    assert second.wait(timeout=30) == 2
    assert second.stderr is not None
    assert f"it already runs here (process {first.pid})" in second.stderr.read()

    # What is killed comes back: the database under everybody's feet, then the web.
    for name in ("postgres", "redis", "web", "beat"):
        kill_and_expect_back(data_dir, name)
    wait_for(lambda: is_healthy(free_port), seconds=SECONDS_TO_START)

    # The supervisor itself is killed: its children end by themselves or are swept, and nothing is lost.
    users = (data_dir / "demo_users.json").read_text()
    first.kill()
    first.wait()
    third = start_muster("up")
    wait_for(lambda: processes(data_dir).get("web"), seconds=SECONDS_TO_START)
    wait_for(lambda: is_healthy(free_port), seconds=SECONDS_TO_START)
    assert (data_dir / "demo_users.json").read_text() == users

    # Ctrl-C.
    third.send_signal(signal.SIGINT)
    assert third.wait(timeout=60) == 0
    assert marked(data_dir) == []
    assert not (data_dir / "processes.json").exists()


def test_interrupted_while_starting(start_muster: MusterStarter, data_dir: Path) -> None:
    process = start_muster("up")
    wait_for(lambda: "postgres" in processes(data_dir), seconds=SECONDS_TO_START)

    process.send_signal(signal.SIGINT)

    assert process.wait(timeout=60) == 0
    assert marked(data_dir) == []


def test_engines_given_from_outside_are_used(
    start_muster: MusterStarter, data_dir: Path, django_db_setup: None, free_port: int
) -> None:
    """DATABASE_URL and REDIS_URL replace our own: neither is started. The run is ended before it migrates."""
    del django_db_setup
    process = start_muster("up", DATABASE_URL=os.environ["DATABASE_URL"], REDIS_URL=os.environ["REDIS_URL"])
    wait_for(lambda: "emulator" in processes(data_dir), seconds=SECONDS_TO_START)

    assert {"postgres", "redis"} & set(processes(data_dir)) == set()

    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        pytest.fail("SIGTERM did not stop it")
    assert not is_healthy(free_port)
