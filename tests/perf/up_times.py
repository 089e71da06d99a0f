"""How long `make up` takes: from an empty cache and no environment, and again.

Works on a clone of the committed state, with an empty package cache, so that nothing of this checkout helps.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 600.0


def rows() -> Iterator[dict[str, Any]]:
    """loop.up_first and loop.up_again, in seconds until /healthz answers 200."""
    home = Path(tempfile.mkdtemp(prefix="muster-first-"))
    try:
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(home / "muster")], check=True)
        for name, reference in (("loop.up_first", "120 s"), ("loop.up_again", "20 s")):
            yield {
                "name": name,
                "value": round(seconds_to_health(home), 1),
                "unit": "s",
                "better": "lower",
                "reference": reference,
                "source": f"{os.cpu_count()} cores; uv's and npm's caches empty at first",
            }
    finally:
        shutil.rmtree(home, ignore_errors=True)


def seconds_to_health(home: Path) -> float:
    """Run `make up` in the clone, wait for it to be healthy, stop it; the time from the call to health."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MUSTER_", "VIRTUAL_ENV"))}
    environment |= {
        "MUSTER_PORT": str(port),
        "UV_CACHE_DIR": str(home / "uv"),
        "npm_config_cache": str(home / "npm"),
    }
    began = time.monotonic()
    process = subprocess.Popen(["make", "up"], cwd=home / "muster", env=environment, start_new_session=True)
    try:
        while not is_healthy(port):
            if process.poll() is not None or time.monotonic() - began > LONGEST:
                raise RuntimeError("`make up` did not come up: see its output above")
            time.sleep(0.1)
        return time.monotonic() - began
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=60)


def is_healthy(port: int) -> bool:
    """Whether /healthz answers 200."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
