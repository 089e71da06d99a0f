"""Lists: selectors, pages, and the resourceVersion a list may be asked at."""

import base64
import binascii
from collections import OrderedDict
from dataclasses import dataclass

import orjson
from aiohttp import web

from muster.emulator.api.answers import json_answer, partial_metadata, wants_metadata
from muster.emulator.api.routes import Target, whole_number
from muster.emulator.registry.errors import ApiError, Json, bad_request
from muster.emulator.registry.resources import Resource
from muster.emulator.registry.selectors import matcher
from muster.emulator.registry.store import Entry, Store

#: Lists that are being paged through, kept so that all pages show one moment.
KEPT_SNAPSHOTS = 32


@dataclass(frozen=True, slots=True)
class Page:
    entries: list[Entry]
    rv: int
    token: str = ""
    remaining: int | None = None


class Lister:
    """Answers lists. A paged list goes on from the moment of its first page."""

    def __init__(self, store: Store):
        self._store = store
        self._snapshots: OrderedDict[tuple[str, str, int], list[Entry]] = OrderedDict()

    def answer(self, target: Target, query: Json, accept: str) -> web.Response:
        page = self.page(target, query)
        resource = target.resource
        meta: Json = {"resourceVersion": str(page.rv)}
        if page.token:
            meta["continue"] = page.token
            if page.remaining is not None:
                meta["remainingItemCount"] = page.remaining
        if wants_metadata(accept):
            items = [partial_metadata(entry) for entry in page.entries]
            kind = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
            return json_answer({**kind, "metadata": meta, "items": items})
        return json_answer(encode_list(resource, meta, page.entries))

    def page(self, target: Target, query: Json) -> Page:
        resource = target.resource
        matches = matcher(resource, query.get("labelSelector", ""), query.get("fieldSelector", ""))
        limit = whole_number(query, "limit") or 0
        scope = target.namespace if resource.namespaced else None
        if query.get("continue"):
            rv, start = _read_token(query["continue"])
            entries = self._snapshot(resource, scope, rv)
        else:
            self.check_version(query)
            rv, start = self._store.rv, ""
            entries = self._store.entries(resource, scope)
        kept = [entry for entry in entries if matches is None or matches(entry.obj)]
        kept = [entry for entry in kept if _place(entry) > start] if start else kept
        if not limit or len(kept) <= limit:
            return Page(kept, rv)
        self._keep(resource, scope, rv, entries)
        token = _write_token(rv, _place(kept[limit - 1]))
        return Page(kept[:limit], rv, token, len(kept) - limit if matches is None else None)

    def check_version(self, query: Json) -> None:
        """504 for a version that is not reached yet; 410 for an exact one that is past."""
        text = query.get("resourceVersion", "")
        if text in ("", "0"):
            return
        asked = read_version(text)
        if asked > self._store.rv:
            raise too_large(asked, self._store.rv)
        if query.get("resourceVersionMatch") == "Exact" and asked != self._store.rv:
            raise ApiError(410, "Expired", "The resourceVersion for the provided list is too old.")

    def _keep(self, resource: Resource, scope: str | None, rv: int, entries: list[Entry]) -> None:
        self._snapshots[resource.key, scope or "", rv] = entries
        while len(self._snapshots) > KEPT_SNAPSHOTS:
            self._snapshots.popitem(last=False)

    def _snapshot(self, resource: Resource, scope: str | None, rv: int) -> list[Entry]:
        entries = self._snapshots.get((resource.key, scope or "", rv))
        if entries is None:
            message = (
                "The provided continue parameter is too old to display a consistent list result. You can start a new "
                "list without the continue parameter."
            )
            raise ApiError(410, "Expired", message)
        return entries

    def forget(self) -> None:
        """Expire all continue tokens."""
        self._snapshots.clear()


def encode_list(resource: Resource, meta: Json, entries: list[Entry]) -> bytes:
    """A typed list; its items carry no kind, as the server's do not."""
    head = f'{{"kind":"{resource.kind}List","apiVersion":"{resource.api_version}","metadata":'.encode()
    return head + orjson.dumps(meta) + b',"items":[' + b",".join(entry.item(resource) for entry in entries) + b"]}"


def too_large(asked: int, current: int) -> ApiError:
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    message = f"Timeout: Too large resource version: {asked}, current: {current}"
    return ApiError(504, "Timeout", message, details={"causes": [cause]}, retry_after=1)


def read_version(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        message = f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        raise ApiError(500, None, message) from error


def _place(entry: Entry) -> str:
    meta = entry.obj["metadata"]
    return f"/{meta.get('namespace', '')}/{meta['name']}\0"


def _write_token(rv: int, start: str) -> str:
    raw = orjson.dumps({"v": "meta.k8s.io/v1", "rv": rv, "start": start})
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _read_token(token: str) -> tuple[int, str]:
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        found = orjson.loads(raw)
        return int(found["rv"]), str(found["start"])
    except (binascii.Error, ValueError, KeyError, TypeError) as error:
        letter = _first_letter(token)
        raise bad_request(
            f"invalid continue token: continue key is not valid: invalid character '{letter}' looking for beginning of value"
        ) from error


def _first_letter(token: str) -> str:
    try:
        return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))[:1].decode("latin-1")
    except binascii.Error:
        return token[:1]
