"""The demo platform on a stage, and people who sign in to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, Playwright

from tests.support.stage import Stage

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PROCESSES = ("web", "publisher", "informer", "cycle", "preview", "kube", "beat")
EMULATOR = "emulator.muster.dev/"
START_SECONDS = 180.0
"""Seven processes at once on a machine that may do other things."""


class Demo:
    """The running demo: its address, its people, and a way to submit without a browser."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        people = json.loads((stage.home / "data" / "demo_users.json").read_text())
        self.passwords = {person["username"]: person["password"] for person in people}

    @property
    def url(self) -> str:
        """Without a slash at its end."""
        return self.stage.url

    @contextmanager
    def person(self, name: str) -> Iterator[httpx.Client]:
        """Somebody signed in without a browser."""
        with httpx.Client(base_url=self.url, follow_redirects=True, timeout=20) as client:
            token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get("/sign-in/").text)
            assert token
            form = {"csrfmiddlewaretoken": token[1], "username": name, "password": self.passwords[name]}
            assert client.post("/sign-in/", data=form).status_code == 200
            client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
            yield client

    def submit(self, who: str, *, behaviour: dict[str, Any] | None = None, **keys: Any) -> int:
        """Submit a job as this person; its simulated pods do as `behaviour` says. The job's number."""
        told = {EMULATOR + name.replace("_", "-"): str(value) for name, value in (behaviour or {}).items()}
        body = {"image": "registry/train:1", "annotations": told, **keys}
        with self.person(who) as client:
            answer = client.post("/api/v1/jobs/", json=body)
        assert answer.status_code == 201, answer.text
        return int(answer.json()["id"])

    def state(self, who: str, job: int) -> str:
        """A job's state as the interface says."""
        with self.person(who) as client:
            return str(client.get(f"/api/v1/jobs/{job}/").json()["state"])

    def cancel_all(self) -> None:
        """Leave the cluster empty for whoever comes next."""
        with self.person("admin") as client:
            jobs = client.get("/api/v1/jobs/", params={"state__in": "queued,held,starting,running", "limit": 1000})
            for job in jobs.json()["results"]:
                client.post(f"/api/v1/jobs/{job['id']}/cancel/")

    def sign_in(self, page: Page, who: str) -> None:
        """Through the form, as people do."""
        page.goto(f"{self.url}/sign-in/")
        page.get_by_label("Name").fill(who)
        page.get_by_label("Password").fill(self.passwords[who])
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("link", name="Overview").first.wait_for()


@contextmanager
def demo() -> Iterator[Demo]:
    """The demo cluster with all processes, ready."""
    with Stage() as stage:
        stage.start_emulator("--cluster", "demo")
        stage.manage("demo_seed")
        stage.start(*PROCESSES)
        stage.wait(lambda: _answers(stage.url), "the web process", seconds=START_SECONDS)
        found = Demo(stage)
        with found.person("admin") as client:
            stage.wait(lambda: len(_ready(client)) >= 24, "the nodes to be seen", seconds=START_SECONDS)
        yield found


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=5).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def _ready(client: httpx.Client) -> list[Any]:
    nodes = client.get("/api/v1/nodes/", params={"limit": 100}).json()["results"]
    return [node for node in nodes if node["ready"]]


def launch(playwright: Playwright) -> Browser:
    """Chromium as the machine has it."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
