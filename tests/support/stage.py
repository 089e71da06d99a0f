"""A whole platform of its own in a temporary directory, for benchmarks and loop tests: real processes that may be killed.

with Stage() as stage:            # PostgreSQL, Redis, tables
    stage.start_emulator("--nodes", "1000")
    stage.start("web", "cycle", "kube", "informer", "publisher")
    stage.kill("kube"); stage.start("kube")
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx

from muster.cli.up.engines import POSTGRES_FAST, USER, Postgres, Redis, make_socket_dir, wait_until
from muster.cli.up.processes import emulator_kubeconfig, platform_services
from muster.cli.up.services import Service
from muster.config.env import Env

READY_SECONDS = 60.0


def free_port() -> int:
    """A port of the loopback that nobody listens on now."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Stage:
    """Engines, tables, and any of the platform's processes. Everything started here is ended at the exit."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="muster-stage-"))
        self.web_port = free_port()
        self.emulator_port = free_port()
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.urls = {
            "DATABASE_URL": f"postgresql://{USER}@{quote(str(self.home), safe='')}/muster",
            "REDIS_URL": f"unix://{self.home}/redis.sock?db=0",
            "MUSTER_DATA_DIR": str(self.home / "data"),
            "MUSTER_SECRET_KEY": "a stage signs with this",
            "MUSTER_PORT": str(self.web_port),
        }

    def __enter__(self) -> Stage:
        make_socket_dir(self.home)
        # Every process writes its metrics here; `muster up` makes it too.
        (self.home / "data" / "metrics").mkdir(parents=True)
        for engine in (
            Postgres(self.home / "postgres", self.home, POSTGRES_FAST),
            Redis(self.home / "redis", self.home),
        ):
            engine.prepare()
            name = type(engine).__name__.lower()
            process = self._spawn(name, [*engine.prefix(), *engine.command()], {})
            if not wait_until(engine.answers, seconds=READY_SECONDS, process=process):
                raise RuntimeError(f"{name} did not start: {self.log(name)}")
        self.manage("migrate", "--verbosity", "0")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in reversed(list(self.running)):
            self.kill(name, signal.SIGINT if name == "postgres" else signal.SIGTERM, grace=5)
        shutil.rmtree(self.home, ignore_errors=True)

    # --- processes --------------------------------------------------------------------------------------------------

    def start(self, *names: str, port: int | None = None) -> None:
        """Start these processes of the platform (`web` on `port`, else on the stage's own)."""
        for name in names:
            service = self._service(name, port)
            key = f"{name}@{port}" if port else name
            self._spawn(key, [*service.prefix, *service.command], service.environment)

    def start_emulator(self, *options: str) -> None:
        """Start the emulated cluster; its kubeconfig and its state lie where the platform's processes look for them."""
        kubeconfig = emulator_kubeconfig(self._env(None))
        kubeconfig.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "muster.emulator", "--port", str(self.emulator_port), *options]
        self._spawn("emulator", [*command, "--kubeconfig-out", str(kubeconfig)], {})
        self.wait(lambda: _answers(f"http://127.0.0.1:{self.emulator_port}/readyz"), "the emulator to answer")

    def kill(self, name: str, sign: signal.Signals = signal.SIGKILL, *, grace: float = 10) -> None:
        """End a process with everything it started."""
        process = self.running.pop(name)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(sign)
        try:
            process.wait(timeout=grace)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def manage(self, *arguments: str) -> str:
        """Run a management command; returns what it printed."""
        command = [sys.executable, "-m", "django", *arguments]
        done = subprocess.run(command, env=self.environment(), capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)}: {done.stderr[-2000:]}")
        return done.stdout

    def log(self, name: str, last: int = 4000) -> str:
        """The end of what a process printed."""
        path = self.home / f"{name}.log"
        return path.read_text(errors="replace")[-last:] if path.exists() else ""

    def wait(self, condition: Any, what: str, *, seconds: float = READY_SECONDS) -> None:
        """Wait until `condition()` is true; the error names what was waited for."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {seconds:.0f} s in vain for {what}")
            time.sleep(0.05)

    def wait_for_web(self, port: int | None = None) -> None:
        """Wait until the web process answers."""
        url = f"http://127.0.0.1:{port or self.web_port}/healthz"
        self.wait(lambda: _answers(url), url)

    # --- where things are -------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The web process's address."""
        return f"http://127.0.0.1:{self.web_port}"

    @property
    def emulator_url(self) -> str:
        """The emulated cluster's address."""
        return f"http://127.0.0.1:{self.emulator_port}"

    @property
    def kubeconfig(self) -> Path:
        """The way to the emulated cluster."""
        return emulator_kubeconfig(self._env(None))

    def environment(self) -> dict[str, str]:
        """The environment of a command that belongs to this stage."""
        paths = os.pathsep.join([str(Path(__file__).parents[2]), str(Path(__file__).parents[2] / "platform")])
        kubeconfig = emulator_kubeconfig(self._env(None))
        known = {"MUSTER_KUBECONFIG": str(kubeconfig)} if kubeconfig.exists() else {}
        return {
            **os.environ, **self.urls, **known, "PYTHONPATH": paths, "DJANGO_SETTINGS_MODULE": "muster.config.settings",
            "OPENBLAS_NUM_THREADS": "1",
        }  # fmt: skip

    @contextlib.contextmanager
    def django(self) -> Iterator[None]:
        """Use the stage's rows from this process. Once per process: Django reads its settings once."""
        os.environ.update(self.environment())
        import django

        django.setup()
        from django.db import connections

        try:
            yield
        finally:
            connections.close_all()

    def _env(self, port: int | None) -> Env:
        return Env(data_dir=self.home / "data", port=port or self.web_port)

    def _service(self, name: str, port: int | None) -> Service:
        found = {service.name: service for service in platform_services(self._env(port))}
        return found[name]

    def _spawn(self, name: str, command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        if name in self.running:
            raise ValueError(f"{name} is running")
        with (self.home / f"{name}.log").open("ab") as output:
            self.running[name] = subprocess.Popen(
                command, env=self.environment() | environment, stdout=output, stderr=output, start_new_session=True
            )
        return self.running[name]


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False
