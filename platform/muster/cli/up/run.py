"""`muster up`, step by step."""

import asyncio
import fcntl
import json
import os
import shutil
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from muster.cli.up import processes
from muster.cli.up.engines import EngineError, check_server, make_socket_dir
from muster.cli.up.leftovers import Record, sweep
from muster.cli.up.output import Output
from muster.cli.up.supervisor import StartError, Supervisor
from muster.config.env import BadEnvironmentError, Env, env

EXIT_REFUSED = 2
SECONDS_TO_HEALTH = 90.0
ENGINES = frozenset({"postgres", "redis"})


class RefusedError(Exception):
    """`muster up` cannot run like this; the message is one sentence for the person at the terminal."""


def run() -> int:
    """Run the platform until Ctrl-C. Returns the exit code."""
    try:
        return asyncio.run(_Up(env()).run())
    except (BadEnvironmentError, EngineError, RefusedError, StartError) as error:
        print(f"muster up: {error}", file=sys.stderr)
        return EXIT_REFUSED


class _Up:
    """One run: everything it started is stopped again, whichever way it ends."""

    def __init__(self, env: Env) -> None:
        self._env = env
        env.data_dir.mkdir(parents=True, exist_ok=True)
        self._lock = lock(env.data_dir / "up.lock")
        self._record = Record(env.data_dir / "processes.json")
        self._output = Output(env.data_dir / "logs", hidden=ENGINES)
        self._supervisor = Supervisor(env.data_dir, record=self._record, output=self._output)
        self._stopping = asyncio.Event()

    async def run(self) -> int:
        """Start, say where, wait for Ctrl-C, stop."""
        self._listen_for_signals()
        self._check()
        try:
            if await self._unless_stopped(self._start()):
                await self._stopping.wait()
        finally:
            self._output.say("muster", "stopping")
            await self._supervisor.stop()
            shutil.rmtree(self._env.socket_dir, ignore_errors=True)
        self._output.say("muster", "stopped")
        return 0

    def _check(self) -> None:
        for name in sweep(self._record, self._env.data_dir):
            self._output.say("muster", f"ended {name}, left by an earlier run")
        if processes.is_taken(self._env.host, self._env.port):
            raise RefusedError(
                f"port {self._env.port} on {self._env.host} is taken: stop what listens there, or set MUSTER_PORT"
            )
        for name, url in (("DATABASE_URL", self._env.database_url), ("REDIS_URL", self._env.redis_url)):
            if url:
                check_server(name, url)

    async def _start(self) -> None:
        # Counters of processes that are no more would be added to those of the new ones.
        shutil.rmtree(self._env.data_dir / "metrics", ignore_errors=True)
        for name in ("metrics", "static", "files"):
            (self._env.data_dir / name).mkdir(exist_ok=True)
        await self._start_foundations()
        web, *others = processes.platform_services(self._env)
        # While the tables are made, web imports: /healthz says no until both are done.
        await self._supervisor.start([web])
        await self._prepare_database()
        await self._supervisor.start(others)
        await self._wait_for_health()
        self._greet()

    async def _start_foundations(self) -> None:
        """What the platform stands on, as far as it is ours: database, broker, Kubernetes."""
        engines = processes.own_engines(self._env)
        if engines:
            make_socket_dir(self._env.socket_dir)
        await asyncio.gather(*(asyncio.to_thread(engine.prepare) for engine in engines))
        services = [processes.engine_service(engine) for engine in engines]
        if self._env.kubeconfig is None:
            services.append(processes.emulator_service(self._env))
        await self._supervisor.start(services)

    async def _prepare_database(self) -> None:
        """Migrations and the demo's rows; what is printed goes to the terminal and a log."""
        reading, writing = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "muster.config.prepare"),
                env=os.environ | processes.environment(self._env, "command"),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
            )
        finally:
            os.close(writing)
        try:
            await self._output.follow("prepare", reading)
            if await process.wait() != 0:
                raise StartError(f"the database could not be prepared: see {self._output.log_of('prepare')}")
        finally:
            with suppress(ProcessLookupError):
                process.kill()

    async def _wait_for_health(self) -> None:
        answer: dict[str, str] = {}
        deadline = asyncio.get_running_loop().time() + SECONDS_TO_HEALTH
        while set(answer.values()) != {"ok"}:
            if asyncio.get_running_loop().time() > deadline:
                raise StartError(f"the platform does not become healthy ({answer}): see {self._env.data_dir}/logs")
            await asyncio.sleep(0.2)
            answer = await asyncio.to_thread(health, self._env)

    def _greet(self) -> None:
        self._output.say("muster", f"ready: {self._env.address}")
        for line in _demo_users(self._env.data_dir / "demo_users.json"):
            self._output.say("muster", line)
        self._output.say("muster", "Ctrl-C stops everything")

    def _listen_for_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, self._stop)

    def _stop(self) -> None:
        """The first signal asks everything to end, the second does not ask."""
        if self._stopping.is_set():
            self._supervisor.kill()
        self._stopping.set()

    async def _unless_stopped(self, work: Coroutine[Any, Any, None]) -> bool:
        """Do the work, or drop it when a signal comes first. Returns whether it was done."""
        task, stopped = asyncio.create_task(work), asyncio.create_task(self._stopping.wait())
        await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if task.done():
            task.result()
            return True
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        return False


def health(env: Env) -> dict[str, str]:
    """What /healthz answers, part by part; empty while nobody answers."""
    try:
        with urllib.request.urlopen(f"{env.address}healthz", timeout=5) as answer:
            return dict(json.load(answer))
    except urllib.error.HTTPError as error:
        with suppress(ValueError):
            return dict(json.load(error))
        return {"web": f"HTTP {error.code}"}
    except (OSError, ValueError):
        return {}


def lock(path: Path) -> TextIO:
    """Two supervisors on one data directory would sweep each other away."""
    handle = path.open("a+")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.seek(0)
        raise RefusedError(f"it already runs here (process {handle.read().strip()}): stop that one first") from None
    handle.truncate(0)
    handle.write(str(os.getpid()))
    handle.flush()
    return handle


def _demo_users(path: Path) -> list[str]:
    """Who can sign in, as `demo_seed` wrote it: a list of {username, password, role}."""
    if not path.exists():
        return []
    users = json.loads(path.read_text())
    return [f"  {user['username']:<12} {user['password']:<16} {user['role']}" for user in users]
