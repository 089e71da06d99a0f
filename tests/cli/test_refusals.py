"""`muster up` says what is wrong in one sentence, exits 2, and has started nothing."""

import os
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from muster.cli.up.run import lock
from tests.cli.conftest import MusterStarter


def answer(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and what it said on standard error, one line."""
    _, said = process.communicate(timeout=30)
    assert said.count("\n") == 1, said
    return process.returncode, said.strip()


def test_taken_port(start_muster: MusterStarter, free_port: int) -> None:
    with closing(socket.create_server(("127.0.0.1", free_port))):
        code, said = answer(start_muster("up"))
    assert code == 2
    assert said == f"muster up: port {free_port} on 127.0.0.1 is taken: stop what listens there, or set MUSTER_PORT"


def test_unreachable_database(start_muster: MusterStarter) -> None:
    code, said = answer(start_muster("up", DATABASE_URL="postgresql://muster@127.0.0.1:1/muster"))
    assert code == 2
    assert said.startswith("muster up: DATABASE_URL cannot be reached: ")


def test_unreachable_redis(start_muster: MusterStarter) -> None:
    code, said = answer(start_muster("up", REDIS_URL="redis://127.0.0.1:1/0"))
    assert code == 2
    assert said.startswith("muster up: REDIS_URL cannot be reached: ")


def test_bad_values_are_named(start_muster: MusterStarter) -> None:
    code, said = answer(start_muster("up", MUSTER_KUBECONFIG="/nowhere/config"))
    assert (code, said) == (2, "muster up: MUSTER_KUBECONFIG='/nowhere/config': no such file: /nowhere/config")


def test_reset_keeps_away_from_a_running_platform(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    reset = [sys.executable, "-m", "muster.cli.up.reset"]
    environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    environment["MUSTER_DATA_DIR"] = str(tmp_path)

    with lock(tmp_path / "up.lock"):
        refused = subprocess.run(reset, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "already runs here" in refused.stderr
    assert (tmp_path / "postgres").exists()

    assert subprocess.run(reset, env=environment, capture_output=True, check=False).returncode == 0
    assert not (tmp_path / "postgres").exists()
