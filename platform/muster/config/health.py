"""`/healthz`: can the platform be used? And `/metrics`, for Prometheus."""

import os
from collections.abc import Callable

import redis
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector


class UnhealthyError(Exception):
    """A part does not answer as it should; the message says what was seen."""


def check_database() -> None:
    """Raise unless PostgreSQL answers a query."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        raise UnhealthyError(str(error).strip().splitlines()[0]) from error


class MigrationCheck:
    """Raises until every migration is applied; the graph takes 0.2 s to load, so a yes is remembered."""

    def __init__(self) -> None:
        self._applied = False

    def __call__(self) -> None:
        if self._applied:
            return
        try:
            executor = MigrationExecutor(connection)
            missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        except DatabaseError as error:
            raise UnhealthyError("the database does not answer") from error
        if missing:
            raise UnhealthyError(f"{len(missing)} migrations of {DEFAULT_DB_ALIAS} are not applied")
        self._applied = True


def check_redis() -> None:
    """Raise unless Redis answers a ping within two seconds."""
    try:
        with redis.Redis.from_url(settings.MUSTER.redis, socket_timeout=2) as client:
            client.ping()
    except redis.RedisError as error:
        raise UnhealthyError(str(error)) from error


CHECKS: dict[str, Callable[[], None]] = {
    "database": check_database,
    "migrations": MigrationCheck(),
    "redis": check_redis,
}


def report() -> dict[str, str]:
    """Each part with "ok" or what is wrong with it."""
    answers = {}
    for name, check in CHECKS.items():
        try:
            check()
            answers[name] = "ok"
        except UnhealthyError as error:
            answers[name] = str(error)
    return answers


@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """200 once the platform can be used, else 503; either way each part by name."""
    parts = report()
    response = JsonResponse(parts, status=200 if set(parts.values()) == {"ok"} else 503)
    # Somebody asks several times a second while we start: Django need not log each 503 as an error.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


@require_safe
def metrics(_request: HttpRequest) -> HttpResponse:
    """This process's metrics, or those of all processes that share PROMETHEUS_MULTIPROC_DIR."""
    registry = REGISTRY
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
