"""A pytest plugin: one PostgreSQL and one Redis for the whole run, unless DATABASE_URL and REDIS_URL name others.

It is loaded with `-p` (pyproject.toml), because settings are read before any conftest. Workers of xdist
inherit the two URLs; pytest-django gives each of them a database of its own in the one server.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from muster.cli.up.engines import POSTGRES_FAST, USER, Postgres, Redis, make_socket_dir, wait_until

RUNNING = pytest.StashKey[list[subprocess.Popen[bytes]]]()
SECONDS_TO_START = 30.0


# A wrapper runs before pytest-django's own hook, which reads the settings.
@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Start what is missing and say where it is."""
    early_config.stash[RUNNING] = []
    home = Path(tempfile.mkdtemp(prefix="muster-test-"))
    early_config.add_cleanup(lambda: _stop(early_config.stash[RUNNING], home))
    os.environ.setdefault("MUSTER_DATA_DIR", str(home / "data"))
    os.environ.setdefault("MUSTER_SECRET_KEY", "tests-sign-with-this")
    make_socket_dir(home)
    Path(os.environ["MUSTER_DATA_DIR"], "static").mkdir(parents=True, exist_ok=True)
    for variable, engine, url in (
        (
            "DATABASE_URL",
            Postgres(home / "postgres", home, POSTGRES_FAST),
            f"postgresql://{USER}@{quote(str(home), safe='')}/muster",
        ),
        ("REDIS_URL", Redis(home / "redis", home), f"unix://{home}/redis.sock?db=0"),
    ):
        if not os.environ.get(variable):
            early_config.stash[RUNNING].append(_start(engine, home / f"{variable}.log"))
            os.environ[variable] = url
    os.environ["REDIS_URL"] = _own_database(os.environ["REDIS_URL"])
    return (yield)


def _own_database(url: str) -> str:
    """A worker of xdist keeps to a Redis database of its own, as it does in PostgreSQL."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    return re.sub(r"db=\d+$", f"db={int(worker[2:]) + 1}", url) if worker.startswith("gw") else url


def _start(engine: Postgres | Redis, log: Path) -> subprocess.Popen[bytes]:
    engine.prepare()
    with log.open("wb") as output:
        command = [*engine.prefix(), *engine.command()]
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
    if not wait_until(engine.answers, seconds=SECONDS_TO_START, process=process):
        process.kill()
        raise pytest.UsageError(f"{type(engine).__name__} did not start:\n{log.read_text()}")
    return process


def _stop(processes: list[subprocess.Popen[bytes]], home: Path) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            # PostgreSQL waits for its clients on TERM; a test that left one open must not hang the run.
            process.kill()
            process.wait()
    shutil.rmtree(home, ignore_errors=True)
