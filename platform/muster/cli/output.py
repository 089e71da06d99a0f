"""What the client commands print, and the exit codes they end with."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from muster.cli.client import MusterClientError, NotSignedIn, Refused, Unreachable

EXIT_REFUSED, EXIT_BAD_INPUT, EXIT_UNREACHABLE, EXIT_NOT_SIGNED_IN = 1, 2, 3, 4
UNAVAILABLE = 503

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


@contextlib.contextmanager
def told_errors(*, as_json: bool = False, file: str = "") -> Iterator[None]:
    """One sentence on stderr (with --json an object) and an exit code, instead of a traceback."""
    try:
        yield
    except Refused as error:
        _tell(error, as_json=as_json, file=file)
        raise typer.Exit(_exit_code(error)) from None
    except Unreachable as error:
        print(f"muster: {error}", file=sys.stderr)
        raise typer.Exit(EXIT_UNREACHABLE) from None
    except NotSignedIn as error:
        print(f"muster: {error}", file=sys.stderr)
        raise typer.Exit(EXIT_NOT_SIGNED_IN) from None
    except (MusterClientError, TimeoutError) as error:
        print(f"muster: {error}", file=sys.stderr)
        raise typer.Exit(EXIT_REFUSED) from None


def _tell(error: Refused, *, as_json: bool, file: str) -> None:
    if as_json:
        body = {"code": error.code, "message": error.message, "fields": error.fields, "details": error.details}
        print(json.dumps(body), file=sys.stderr)
        return
    problems = error.details.get("problems")
    if not problems:
        print(f"muster: {error}", file=sys.stderr)
    for problem in problems or ():
        line = f":{problem['line']}" if problem["line"] else ""
        print(f"{file or 'job file'}{line}: {problem['message']}", file=sys.stderr)


def _exit_code(error: Refused) -> int:
    if error.status == UNAVAILABLE:
        return EXIT_UNREACHABLE
    return EXIT_BAD_INPUT if error.status == 400 else EXIT_REFUSED


def print_json(value: Any) -> None:
    """One document, for programs."""
    print(json.dumps(value, indent=1))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Columns as kubectl users expect them: plain, aligned, nothing drawn."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *texts, strict=True)]
    for row in [list(heads), *texts]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def age(since: str | None) -> str:
    """`12s`, `5m`, `3h`, `2d` since then; — where it is not known."""
    if since is None:
        return "—"
    seconds = (dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(since)).total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(int(seconds), 0)}s"


def plain(value: float) -> str:
    """A number of GPUs without a needless point."""
    return f"{value:g}"
