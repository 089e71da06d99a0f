"""What the environment may say, typed and read once.

Everything that differs between a laptop, a test run and a cluster is a field here; nothing else in
Muster reads `os.environ`. A value that cannot be right is refused at start, by its name.
"""

import hashlib
import os
import secrets
import tempfile
from functools import cache
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

ROOT = Path(__file__).resolve().parents[3]

Process = Literal["web", "cycle", "preview", "kube", "default", "beat", "informer", "publisher", "command"]


def _default_data_dir() -> Path:
    """`.muster` in a checkout, `~/.muster` for an installed package."""
    return (ROOT if (ROOT / "manage.py").is_file() else Path.home()) / ".muster"


class BadEnvironmentError(Exception):
    """A setting in the environment cannot be used; the message names it and says why."""


class Env(BaseSettings):
    """One process's settings. Field `x` is read from MUSTER_X, the two URLs from their usual names."""

    model_config = SettingsConfigDict(env_prefix="MUSTER_", frozen=True, extra="ignore", populate_by_name=True)

    process: Process = "command"
    """Which of the platform's processes this is; decides how it keeps its database connections."""

    data_dir: Path = Field(default_factory=_default_data_dir)
    """Databases, logs of pods, keys and sockets' lock files; made by `muster up`."""

    database_url: str = Field(default="", validation_alias="DATABASE_URL")
    redis_url: str = Field(default="", validation_alias="REDIS_URL")
    kubeconfig: Path | None = None

    url: str = ""
    token: str = ""
    """The platform that the client commands speak to, and their token; without them what `muster login` kept."""

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=1, le=65535)
    path_prefix: str = ""
    """Where a proxy mounts us, for example "/muster"; empty at the root."""

    allowed_hosts: Annotated[list[str], NoDecode] = ["localhost", "127.0.0.1", "[::1]"]
    trusted_origins: Annotated[list[str], NoDecode] = []

    secret_key: str = ""
    debug: bool = False
    demo: bool = True
    """Whether `muster up` fills the emulator with the demo cluster and its jobs."""
    demo_jobs: bool = True
    """Whether the demo's people keep submitting jobs."""

    log_format: Literal["console", "json"] = "console"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    @field_validator("allowed_hosts", "trusted_origins", mode="before")
    @classmethod
    def _split_commas(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("data_dir", mode="after")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @field_validator("kubeconfig", mode="before")
    @classmethod
    def _empty_is_none(cls, value: object) -> object:
        return None if value == "" else value

    @field_validator("kubeconfig", mode="after")
    @classmethod
    def _readable(cls, value: Path | None) -> Path | None:
        if value is not None and not value.expanduser().is_file():
            raise ValueError(f"no such file: {value}")
        return value.expanduser().absolute() if value else None

    @field_validator("database_url")
    @classmethod
    def _postgres_only(cls, value: str) -> str:
        if value and not value.startswith(("postgres://", "postgresql://")):
            raise ValueError("must begin with postgresql://")
        return value

    @field_validator("redis_url")
    @classmethod
    def _redis_only(cls, value: str) -> str:
        if value and not value.startswith(("redis://", "rediss://", "unix://")):
            raise ValueError("must begin with redis://, rediss:// or unix://")
        return value

    @field_validator("path_prefix")
    @classmethod
    def _rooted(cls, value: str) -> str:
        value = value.rstrip("/")
        if value and not value.startswith("/"):
            raise ValueError('must begin with "/"')
        return value

    @property
    def socket_dir(self) -> Path:
        """A short directory for Unix sockets: a path over 107 bytes cannot be bound."""
        digest = hashlib.sha256(str(self.data_dir).encode()).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"muster-{digest}"

    @property
    def postgres(self) -> str:
        """The database's URL: as given, else our embedded server's socket."""
        return self.database_url or f"postgresql://muster@{quote(str(self.socket_dir), safe='')}/muster"

    @property
    def redis(self) -> str:
        """Redis' URL for redis-py: as given, else our embedded server's socket."""
        return self.redis_url or f"unix://{self.socket_dir}/redis.sock?db=0"

    @property
    def broker(self) -> str:
        """The same Redis in the words that Celery's transport knows."""
        if self.redis.startswith("unix://"):
            path, _, query = self.redis.removeprefix("unix://").partition("?")
            database = dict(part.partition("=")[::2] for part in query.split("&") if part).get("db", "0")
            return f"redis+socket://{path}?virtual_host={database}"
        return self.redis

    @property
    def address(self) -> str:
        """Where a browser on this machine finds the pages, with a slash at the end."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(
            self.host, f"[{self.host}]" if ":" in self.host else self.host
        )
        return f"http://{host}:{self.port}{self.path_prefix}/"

    def signing_key(self) -> str:
        """The key Django signs with: as given, else one made once and kept in the data directory."""
        return self.secret_key or _kept_key(self.data_dir / "secret_key")


def _kept_key(path: Path) -> str:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        # Several processes may start at once: each writes its own file, the first link wins.
        own = path.with_name(f"{path.name}.{os.getpid()}")
        own.touch(mode=0o600)
        own.write_text(secrets.token_urlsafe(48))
        try:
            path.hardlink_to(own)
        except FileExistsError:
            pass
        finally:
            own.unlink()
    return path.read_text().strip()


@cache
def env() -> Env:
    """This process's settings; raises `BadEnvironmentError` with one line per bad value."""
    try:
        return Env()
    except ValidationError as error:
        raise BadEnvironmentError("\n".join(_explain(problem) for problem in error.errors())) from None


def _explain(problem: object) -> str:
    assert isinstance(problem, dict)
    name = str(problem["loc"][0])
    name = name if name.isupper() else f"MUSTER_{name.upper()}"
    return f"{name}={problem['input']!r}: {problem['msg'].removeprefix('Value error, ')}"
