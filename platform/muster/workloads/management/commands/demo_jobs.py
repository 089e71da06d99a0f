"""`demo_jobs`: keeps simulated jobs of mixed sizes coming, until it is stopped."""

from __future__ import annotations

import random
import time
from typing import Any

import structlog
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, close_old_connections

from muster.workloads.demo.jobs import step

log = structlog.get_logger(__name__)


class Command(BaseCommand):
    """A process of the demo; `muster up` runs it unless MUSTER_DEMO_JOBS is false."""

    help = "Keep simulated jobs of mixed sizes coming."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--every", type=float, default=5.0, help="seconds between two looks")
        parser.add_argument("--once", action="store_true", help="look once and end")

    def handle(self, *args: Any, **options: Any) -> None:
        rng = random.Random()
        while True:
            close_old_connections()
            try:
                step(rng)
            except DatabaseError as error:
                # The database may be restarting; the demo waits for it as everybody does.
                log.warning("demo.database", error=str(error))
            if options["once"]:
                return
            time.sleep(options["every"])
