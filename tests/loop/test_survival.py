"""Gangs are submitted while the platform's processes are killed and the API server fails in every way it can.

Short here; `make fuzz` runs the long form, 50 gangs and twenty blows, with a new seed each time.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SEED = os.environ.get("MUSTER_FUZZ_SEED")
GANGS, BLOWS = (50, 20) if SEED else (12, 9)


@pytest.mark.loop
@pytest.mark.slow
def test_everything_survives() -> None:
    """Every job ends as its pods say, no device is held twice or leaked, nothing is left, and drift is 0."""
    options = {"--gangs": GANGS, "--blows": BLOWS, "--seed": SEED or 3}
    command = [sys.executable, "-m", "tests.loop.survival", *(str(part) for pair in options.items() for part in pair)]
    # A stage has engines of its own; those of this test run are not its.
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("MUSTER_", "DATABASE_", "REDIS_"))
    }
    paths = os.pathsep.join([str(ROOT), str(ROOT / "platform")])
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.stdout.strip(), done.stderr[-4000:]
    figures = json.loads(done.stdout.strip().splitlines()[-1])
    print(json.dumps(figures, indent=1))
    assert figures["complaints"] == [], done.stderr[-6000:]
    assert done.returncode == 0
