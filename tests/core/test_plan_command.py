"""`muster plan`: JSON for programs, a table for people, and one clear line for what it cannot read."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from muster.cli.main import app

FILE = """
name: a gang and one that waits
cluster: {nodes: [{name: "n[0-1]", shape: dgx-h100}]}
queues: {q: {}}
jobs:
  - {name: gang, queue: q, workers: 2, gpus: 4}
  - {name: wide, queue: q, gpus: 8, workers: 2, submitted: 1}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.yaml"
    path.write_text(FILE)
    return path


def test_json(file: Path) -> None:
    done = CliRunner().invoke(app, ["plan", str(file), "--json"])
    told = json.loads(done.stdout)
    assert done.exit_code == 0
    assert told["jobs"]["gang"]["placement"][1] == {"worker": "worker-1", "node": "n0", "gpus": [4, 5, 6, 7], "nic": 4}
    assert told["jobs"]["wide"]["reason"] == "InsufficientGPUs"


def test_for_people(file: Path) -> None:
    done = CliRunner().invoke(app, ["plan", str(file)])
    words = " ".join(done.stdout.replace("│", " ").split())
    assert "8 more GPUs were free" in words
    assert "8 GPUs are left free, 1 nodes wholly." in words


def test_what_cannot_be_read_is_one_line_and_exit_code_2(file: Path) -> None:
    file.write_text(FILE.replace("workers: 2, gpus: 4", "wrkers: 2, gpus: 4"))
    done = CliRunner().invoke(app, ["plan", str(file)])
    assert done.exit_code == 2
    assert done.stderr.strip() == f"{file}:6: unknown key `wrkers` in job gang; the nearest valid name is `workers`"


def test_it_starts_without_the_platform(file: Path) -> None:
    code = f"import sys, pathlib; from muster.cli.plan import plan; plan(pathlib.Path({str(file)!r}), True)"
    code += "; sys.exit('django' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
