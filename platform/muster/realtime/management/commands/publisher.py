"""`manage.py publisher`: the process that carries Events to the live streams."""

from __future__ import annotations

import itertools
import time
from typing import Any

import redis
import structlog
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection

from muster.realtime import publisher

log = structlog.get_logger(__name__)


class Command(BaseCommand):
    """Runs until it is ended; a database or Redis that goes away is waited for, and leadership taken anew."""

    help = "Numbers events and appends them to the live streams."

    def handle(self, *args: Any, **options: Any) -> None:
        client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=5)
        while True:
            try:
                publisher.run(client, itertools.count())
            except (DatabaseError, redis.RedisError) as error:
                log.warning("publisher.interrupted", error=str(error))
                connection.close()
                time.sleep(1)
