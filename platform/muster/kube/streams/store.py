"""Logs outlive pods: the last MiB of each worker's, in the platform's file storage."""

from __future__ import annotations

import contextlib
import datetime as dt

import structlog
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from muster.common import clock
from muster.kube import errors
from muster.kube.gateway import Gateway
from muster.kube.streams.lines import Tail, TailKeeper
from muster.placements import actions
from muster.workloads.models import StoredLog, Worker

log = structlog.get_logger(__name__)

KEPT_DAYS = 30
READ_SECONDS = 20.0


def read_tail(gateway: Gateway, namespace: str, pod: str) -> Tail | None:
    """The end of a pod's log as it is now; None where it has none to give (never started, or gone)."""
    keeper = TailKeeper()
    try:
        with gateway.log(namespace, pod, read_seconds=READ_SECONDS) as chunks:
            keeper.take(chunks)
    except errors.KubeError as error:
        log.info("log.unread", pod=pod, error=error.message)
    tail = keeper.tail()
    return tail if tail.content else None


def keep(worker: Worker, tail: Tail) -> None:
    """Store a worker's log in place of what was stored of it. A shorter one never replaces it: its pod was gone already."""
    stored = StoredLog.objects.filter(worker=worker).first()
    if stored is not None:
        if stored.size > len(tail.content):
            return
        _remove(stored.name)
    attempt = worker.attempt
    name = default_storage.save(
        f"logs/{attempt.job_id}/{attempt.pk}/{worker.role.name}-{worker.index}.log", ContentFile(tail.content)
    )
    actions.store_log(worker, name=name, size=len(tail.content), is_cut=tail.is_cut, last_lines=tail.last_lines)


def stored_content(worker: Worker) -> bytes | None:
    """A worker's stored log; None where there is none (any more)."""
    stored = StoredLog.objects.filter(worker=worker).first()
    if stored is None:
        return None
    with contextlib.suppress(FileNotFoundError), default_storage.open(stored.name) as file:
        return bytes(file.read())
    return None


def prune(now: dt.datetime | None = None) -> int:
    """Delete what was stored more than 30 days ago; how many."""
    old = StoredLog.objects.filter(stored_at__lt=(now or clock.now()) - dt.timedelta(days=KEPT_DAYS))
    pruned = 0
    for stored in old.iterator():
        _remove(stored.name)
        stored.delete()
        pruned += 1
    return pruned


def _remove(name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        default_storage.delete(name)
