"""Printing several logs at once, each line behind the name of its worker."""

from __future__ import annotations

import queue
import threading
from typing import Any

from muster.cli.client import Muster, MusterClientError

LINES_AHEAD = 1000


def print_logs(muster: Muster, workers: list[dict[str, Any]], *, follow: bool, tail: int | None) -> None:
    """The logs of these workers: one after the other, or, with `follow`, line by line as they come."""
    if not follow or len(workers) == 1:
        for worker in workers:
            for line in muster.logs(worker["id"], follow=follow, tail=tail):
                print(_named(worker, line, alone=len(workers) == 1), flush=follow)
        return
    lines: queue.Queue[str | MusterClientError | None] = queue.Queue(LINES_AHEAD)
    for worker in workers:
        threading.Thread(target=_read, args=(muster, worker, tail, lines), daemon=True).start()
    open_logs = len(workers)
    while open_logs:
        item = lines.get()
        if isinstance(item, MusterClientError):
            raise item
        if item is None:
            open_logs -= 1
        else:
            print(item, flush=True)


def _read(muster: Muster, worker: dict[str, Any], tail: int | None, lines: queue.Queue[Any]) -> None:
    try:
        for line in muster.logs(worker["id"], follow=True, tail=tail):
            lines.put(_named(worker, line, alone=False))
    except MusterClientError as error:
        lines.put(error)
    finally:
        lines.put(None)


def _named(worker: dict[str, Any], line: str, *, alone: bool) -> str:
    return line if alone else f"[{worker['name']}] {line}"
