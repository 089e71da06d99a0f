"""Versions of objects: ETag on reading, If-Match on changing."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from rest_framework.request import Request
from rest_framework.utils.encoders import JSONEncoder

from muster.common.errors import Stale


def etag_of(body: Any) -> str:
    """A strong ETag of an object's whole representation."""
    text = json.dumps(body, cls=JSONEncoder, sort_keys=True)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:24]}"'


def is_known(request: Request, etag: str) -> bool:
    """Whether the reader has this version already (If-None-Match)."""
    return etag in _listed(request.headers.get("If-None-Match", ""))


def must_match(request: Request, etag: str) -> None:
    """Raise Stale when the writer names another version (If-Match); who names none overwrites knowingly."""
    given = request.headers.get("If-Match")
    if given is not None and given.strip() != "*" and etag not in _listed(given):
        raise Stale


def _listed(header: str) -> set[str]:
    return {part.strip().removeprefix("W/") for part in header.split(",")}
