"""The processes of the platform: which there are, how each is run, in which order."""

import signal
import socket
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import get_args

from muster.cli.up.engines import POSTGRES_DEFAULTS, Postgres, Redis, follow_parent
from muster.cli.up.services import Service
from muster.config.env import Env, Process

# How each queue of config/celery.py is worked. A cycle and a preview keep a snapshot in memory: one process, one at a time.
# The executor waits for HTTP answers: threads. `default` may be heavy: a child that can be thrown away.
POOLS = {
    "cycle": ["--pool=solo"],
    "preview": ["--pool=solo"],
    "kube": ["--pool=threads", "--concurrency=16"],
    "default": ["--pool=prefork", "--concurrency=1"],
}
CELERY = ["-m", "celery", "-q", "-A", "muster.config.celery"]

# Management commands that run for ever.
DAEMONS = ("informer", "publisher")


def own_engines(env: Env) -> list[Postgres | Redis]:
    """The servers that we have to run ourselves: those whose URL was not given."""
    postgres = [] if env.database_url else [Postgres(env.data_dir / "postgres", env.socket_dir, POSTGRES_DEFAULTS)]
    redis = [] if env.redis_url else [Redis(env.data_dir / "redis", env.socket_dir)]
    return [*postgres, *redis]


def engine_service(engine: Postgres | Redis) -> Service:
    """A database or a broker of our own."""
    return Service(
        type(engine).__name__.lower(),
        engine.command(),
        prefix=engine.prefix(),
        ready=engine.answers,
        # PostgreSQL takes TERM for "when everybody has left", INT for "now, and in order".
        stop_signal=signal.SIGINT if isinstance(engine, Postgres) else signal.SIGTERM,
    )


def emulator_service(env: Env) -> Service:
    """A Kubernetes of our own, on a port that stays when it is restarted, since clients keep the address."""
    port, kubeconfig = _free_port(), emulator_kubeconfig(env)
    kubeconfig.unlink(missing_ok=True)  # an earlier run's leads to another port
    options = {
        "--port": str(port),
        "--cluster": "demo" if env.demo else "empty",
        "--state": str(kubeconfig.with_name("state")),
        "--kubeconfig-out": str(kubeconfig),
    }
    arguments = [part for pair in options.items() for part in pair]
    return _python(env, "emulator", ["-m", "muster.emulator", *arguments], ready=kubeconfig.exists)


def emulator_kubeconfig(env: Env) -> Path:
    """Where the emulator writes how to reach it."""
    return env.data_dir / "emulator" / "kubeconfig"


def platform_services(env: Env) -> list[Service]:
    """Web, a worker for each queue, the clock, and the daemons."""
    has_demo_jobs = env.demo and env.demo_jobs and env.kubeconfig is None
    daemons = (*DAEMONS, "demo_jobs") if has_demo_jobs else DAEMONS
    return [
        _python(env, "web", ["-m", "uvicorn", *_web_options(env), "muster.config.asgi:application"]),
        *(_python(env, queue, [*CELERY, "worker", *_worker_options(queue)]) for queue in POOLS),
        _python(env, "beat", [*CELERY, "beat", "--loglevel=INFO", "--pidfile="]),
        *(_python(env, name, ["-m", "django", name, "--skip-checks"]) for name in daemons),
    ]


def _web_options(env: Env) -> list[str]:
    options = {
        "--host": env.host,
        "--port": str(env.port),
        "--lifespan": "off",
        # Websockets stay open for as long as people look at them.
        "--timeout-graceful-shutdown": "3",
        "--log-level": "warning",
    }
    return [part for pair in options.items() for part in pair]


def _worker_options(queue: str) -> list[str]:
    return ["-Q", queue, "-n", f"{queue}@%h", *POOLS[queue], "--without-gossip", "--without-mingle", "--loglevel=INFO"]


def _python(env: Env, name: str, arguments: list[str], *, ready: Callable[[], bool] | None = None) -> Service:
    return Service(
        name,
        [sys.executable, *arguments],
        prefix=follow_parent("TERM"),
        environment=environment(env, name),
        ready=ready,
    )


def environment(env: Env, process: str) -> dict[str, str]:
    """What every process of the platform finds in its environment, beside what is there already."""
    kubeconfig = env.kubeconfig or emulator_kubeconfig(env)
    return {
        "DJANGO_SETTINGS_MODULE": "muster.config.settings",
        "MUSTER_DATA_DIR": str(env.data_dir),
        "MUSTER_KUBECONFIG": str(kubeconfig) if kubeconfig.exists() else "",
        "MUSTER_PROCESS": process if process in get_args(Process) else "command",
        "PROMETHEUS_MULTIPROC_DIR": str(env.data_dir / "metrics"),
        "PYTHONUNBUFFERED": "1",
        # A BLAS thread per core in each of ten processes only takes turns.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def is_taken(host: str, port: int) -> bool:
    """Whether somebody listens there, or whether we may not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return True
    return False


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
