"""`muster doctor` on a machine where nothing runs, and on one where the engines do."""

import json
import subprocess
from typing import Any

from tests.cli.conftest import MusterStarter


def findings(process: subprocess.Popen[str], output: str) -> dict[str, dict[str, Any]]:
    """What it printed, by part."""
    assert process.returncode == 1
    return {finding["part"]: finding for finding in json.loads(output)}


def test_nothing_runs(start_muster: MusterStarter, tmp_path: Any) -> None:
    process = start_muster("doctor", "--json")
    process.wait(timeout=60)
    seen = findings(process, (tmp_path / "muster-0.out").read_text())

    assert seen["python"]["is_well"]
    assert "`muster up` makes it" in seen["data directory"]["advice"]
    for part in ("PostgreSQL", "Redis", "web"):
        assert seen[part]["advice"] == "start the platform: `muster up`"
    for part in ("migrations", "workers", "clusters"):
        assert seen[part]["advice"] == "needs PostgreSQL: see above"


def test_given_servers_are_named(start_muster: MusterStarter, tmp_path: Any) -> None:
    process = start_muster("doctor", "--json", REDIS_URL="redis://127.0.0.1:1/0")
    process.wait(timeout=60)
    seen = findings(process, (tmp_path / "muster-0.out").read_text())

    assert seen["Redis"]["advice"] == "check REDIS_URL and the server it names"


def test_bad_setting_is_refused(start_muster: MusterStarter) -> None:
    process = start_muster("doctor", MUSTER_PORT="none")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.startswith("muster doctor: MUSTER_PORT='none': ")
