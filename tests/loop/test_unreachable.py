"""A kubeconfig that does not work, then one that does: the platform stays up and says what is wrong, and recovers by itself."""

from __future__ import annotations

import html
import subprocess
import sys
from typing import Any

import httpx
import pytest

from muster.emulator.kubeconfig import write_kubeconfig
from tests.e2e.platform import START_SECONDS, Demo
from tests.support.stage import Stage, free_port

PROCESSES = ("web", "publisher", "informer", "kube")


@pytest.mark.loop
@pytest.mark.slow
def test_a_kubeconfig_with_a_wrong_port() -> None:
    with Stage() as stage:
        stage.start_emulator("--cluster", "empty", "--nodes", "2")
        dead = free_port()
        write_kubeconfig(stage.kubeconfig, f"http://127.0.0.1:{dead}", None)
        stage.manage("demo_seed")
        stage.start(*PROCESSES)
        stage.wait_for_web()
        with Demo(stage).person("admin") as client:
            stage.wait(lambda: status(client).get("is_reachable") is False, "the trouble", seconds=START_SECONDS)
            told = status(client)
            assert str(dead) in told["message"]
            assert told["since"]
            for page in ("/", "/cluster/"):
                text = html.unescape(client.get(page).text)
                assert "The cluster has not answered since" in text
                assert told["message"] in text
            assert f"unreachable since {told['since'][11:19]}: {told['message']}" in doctor(stage)
            ended = {name: stage.log(name) for name in PROCESSES if stage.running[name].poll() is not None}
            assert ended == {}

            write_kubeconfig(stage.kubeconfig, stage.emulator_url, None)
            stage.wait(lambda: status(client)["is_reachable"], "the cluster to be reached")
            assert status(client)["message"] == ""
            assert "The cluster has not answered" not in client.get("/").text
            assert "unreachable" not in doctor(stage)


def status(client: httpx.Client) -> dict[str, Any]:
    """What the interface says of the only cluster."""
    return client.get("/api/v1/clusters/").json()["results"][0]["status"] or {}


def doctor(stage: Stage) -> str:
    """What `muster doctor` prints."""
    command = [sys.executable, "-m", "muster.cli.main", "doctor"]
    done = subprocess.run(command, env=stage.environment(), capture_output=True, text=True, timeout=120, check=False)
    return done.stdout + done.stderr
