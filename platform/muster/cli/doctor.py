"""`muster doctor`: looks at each part of the platform on this machine and says what to do about it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Annotated

import psycopg
import redis
import typer

from muster.cli.up.processes import POOLS, is_taken
from muster.cli.up.run import health
from muster.config.env import ROOT, BadEnvironmentError, Env, env

STALE_SECONDS = 60.0
ANSWER_SECONDS = 2.0
OLDEST_NODE = (20, 19)
OLDEST_REDIS = (6, 2)
PUBLISHER_ALIVE = "live:publisher"


class ProblemError(Exception):
    """Something is wrong: what was seen, and what to do about it."""

    def __init__(self, seen: str, advice: str) -> None:
        super().__init__(seen)
        self.advice = advice


@dataclass(frozen=True)
class Finding:
    """What one check saw. `advice` is empty when all is well."""

    part: str
    is_well: bool
    seen: str
    advice: str = ""


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check each part of a running platform and say what to do. Exit code 1 when something is wrong."""
    try:
        findings = list(examine(env()))
    except BadEnvironmentError as error:
        print(f"muster doctor: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            print(f"{'ok ' if finding.is_well else 'BAD'}  {finding.part:<14} {finding.seen}")
            if finding.advice:
                print(f"{'':20}→ {finding.advice}")
    raise typer.Exit(0 if all(finding.is_well for finding in findings) else 1)


def examine(env: Env) -> Iterator[Finding]:
    """Every check in the order in which one part needs another."""
    for part, check in CHECKS.items():
        try:
            yield Finding(part, True, check(env))
        except ProblemError as problem:
            yield Finding(part, False, str(problem), problem.advice)


def check_python(_env: Env) -> str:
    """The interpreter is new enough, or we would not run; say which it is."""
    return f"{sys.version.split()[0]}, {sys.executable}"


def check_front_end(_env: Env) -> str:
    """The pages' scripts and styles are built."""
    manifest = ROOT / "frontend" / "dist" / ".vite" / "manifest.json"
    if manifest.exists():
        return f"{len(json.loads(manifest.read_text()))} files built"
    node = shutil.which("node")
    version = (
        subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout if node else "none"
    )
    raise ProblemError(
        f"not built (Node.js here: {version.strip()})", "`make up` builds it, with a Node.js of its own if needed"
    )


def check_data_directory(env: Env) -> str:
    """There is one, and we may write there."""
    if not env.data_dir.is_dir():
        raise ProblemError(
            f"{env.data_dir} is not there", "`muster up` makes it; or set MUSTER_DATA_DIR to where it is"
        )
    if not os.access(env.data_dir, os.W_OK):
        raise ProblemError(f"{env.data_dir} is not ours to write", "run as its owner, or set MUSTER_DATA_DIR")
    free = shutil.disk_usage(env.data_dir).free / 2**30
    if free < 1:
        raise ProblemError(
            f"{free:.1f} GiB are free at {env.data_dir}", "make room: PostgreSQL stops when the disk is full"
        )
    return f"{env.data_dir}, {free:.0f} GiB free"


def check_postgres(env: Env) -> str:
    """The database answers."""
    advice = _advice_for(env.database_url, "DATABASE_URL")
    with _mapped(psycopg.Error, advice), psycopg.connect(env.postgres, connect_timeout=5) as connection:
        return f"{connection.info.server_version // 10000}, {'DATABASE_URL' if env.database_url else 'ours'}"


def check_redis(env: Env) -> str:
    """The broker answers and is new enough."""
    advice = _advice_for(env.redis_url, "REDIS_URL")
    with _mapped(redis.RedisError, advice), redis.Redis.from_url(env.redis, socket_timeout=5) as client:
        version = str(client.info("server")["redis_version"])
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_REDIS:
        raise ProblemError(f"Redis {version}", "6.2 or newer is needed")
    return f"{version}, {'REDIS_URL' if env.redis_url else 'ours'}"


def check_web(env: Env) -> str:
    """The web process answers on our port, and finds its database, migrations and broker."""
    parts = health(env)
    if not parts and is_taken(env.host, env.port):
        raise ProblemError(f"port {env.port} is taken by something else", "stop what listens there, or set MUSTER_PORT")
    if not parts:
        raise ProblemError(f"nothing listens at {env.address}", "start the platform: `muster up`")
    if bad := {name: state for name, state in parts.items() if state != "ok"}:
        raise ProblemError("; ".join(f"{name}: {state}" for name, state in bad.items()), "see the log of web")
    return f"{env.address} is healthy"


def check_migrations(env: Env) -> str:
    """The tables are those of this version."""
    _need_database(env)
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        raise ProblemError(
            f"{len(missing)} are not applied", "`python manage.py migrate`; `muster up` does it at start"
        )
    return "all applied"


def check_workers(env: Env) -> str:
    """A worker of each queue answers. One that is in the middle of a cycle may be too busy: then ask again."""
    _need_database(env)
    from muster.config.celery import app

    try:
        answers = app.control.inspect(timeout=ANSWER_SECONDS).ping() or {}
    except OSError as error:
        raise ProblemError(str(error), "the workers are reached through Redis: see above") from None
    queues = {name.partition("@")[0] for name in answers}
    if silent := [queue for queue in POOLS if queue not in queues]:
        raise ProblemError(f"no answer from {', '.join(silent)}", f"see {env.data_dir}/logs/{silent[0]}.log")
    return f"{len(answers)} answer, for {', '.join(POOLS)}"


def check_publisher(env: Env) -> str:
    """The publisher says every few seconds that it is at work."""
    advice = "the publisher is seen through Redis: see above"
    with _mapped(redis.RedisError, advice), redis.Redis.from_url(env.redis, socket_timeout=5) as client:
        is_alive = client.exists(PUBLISHER_ALIVE)
    if not is_alive:
        raise ProblemError("none is at work", f"pages stand still: see {env.data_dir}/logs/publisher.log")
    return "at work"


def check_clusters(env: Env) -> str:
    """The informer has heard from each enabled cluster within a minute."""
    _need_database(env)
    from muster.clusters.models import Cluster

    clusters = list(Cluster.objects.filter(enabled=True).select_related("status"))
    if not clusters:
        raise ProblemError("none is registered", "set MUSTER_KUBECONFIG, or add one in the admin site")
    for cluster in clusters:
        status = getattr(cluster, "status", None)
        if status is not None and status.is_reachable is False:
            raise ProblemError(
                f"{cluster}: unreachable since {status.since:%H:%M:%S}: {status.message}",
                f"try `kubectl --kubeconfig {cluster.kubeconfig_path} version`",
            )
        if status is None or status.seen_at is None:
            raise ProblemError(
                f"{cluster}: never seen", f"is the informer running? see {env.data_dir}/logs/informer.log"
            )
        age = (datetime.now(UTC) - status.seen_at).total_seconds()
        if age > STALE_SECONDS:
            raise ProblemError(
                f"{cluster}: last seen {age:.0f} s ago",
                f"is the informer running? see {env.data_dir}/logs/informer.log",
            )
    return f"{', '.join(str(cluster) for cluster in clusters)}: seen within {STALE_SECONDS:.0f} s"


CHECKS: dict[str, Callable[[Env], str]] = {
    "python": check_python,
    "front end": check_front_end,
    "data directory": check_data_directory,
    "PostgreSQL": check_postgres,
    "Redis": check_redis,
    "web": check_web,
    "migrations": check_migrations,
    "workers": check_workers,
    "publisher": check_publisher,
    "clusters": check_clusters,
}


@contextmanager
def _mapped(foreign: type[Exception], advice: str) -> Iterator[None]:
    """A client library's error becomes a problem with the first line of its message."""
    try:
        yield
    except foreign as error:
        raise ProblemError((str(error).strip() or type(error).__name__).splitlines()[0], advice) from None


def _advice_for(url: str, name: str) -> str:
    return f"check {name} and the server it names" if url else "start the platform: `muster up`"


def _need_database(env: Env) -> None:
    """Load Django, once the database answers: a check that needs rows says so instead of failing in the ORM."""
    with _mapped(psycopg.Error, "needs PostgreSQL: see above"):
        psycopg.connect(env.postgres, connect_timeout=5).close()
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "muster.config.settings")
    django.setup()
