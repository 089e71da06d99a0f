"""HTTP answers: objects, statuses, and the forms a client may ask for."""

import orjson
from aiohttp import web

from muster.emulator.registry.errors import ApiError, Json
from muster.emulator.registry.resources import Resource
from muster.emulator.registry.store import Entry

JSON = "application/json"
_ACCEPTED = ("application/json", "application/*", "*/*")
_OFFERED = "application/json, application/yaml, application/vnd.kubernetes.protobuf"


def json_answer(body: Json | bytes, code: int = 200, content_type: str = JSON) -> web.Response:
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    return web.Response(body=raw, status=code, headers={"Content-Type": content_type})


def object_answer(resource: Resource, entry: Entry, accept: str, code: int = 200) -> web.Response:
    if wants_metadata(accept):
        return json_answer(partial_metadata(entry), code)
    return json_answer(entry.encoded(resource), code)


def error_answer(error: ApiError) -> web.Response:
    answer = json_answer(error.status(), error.code)
    if error.retry_after is not None:
        answer.headers["Retry-After"] = str(error.retry_after)
    return answer


def success(code: int = 201, details: Json | None = None) -> web.Response:
    """metav1.Status Success: how bindings, evictions and most deletions are answered."""
    body: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if details is not None:
        return json_answer({**body, "details": details}, code)
    return json_answer({**body, "code": code}, code)


def check_acceptable(accept: str) -> None:
    """406 for a client that takes no JSON. Tables are not made; such clients name JSON too."""
    media = [part.split(";")[0].strip() for part in accept.split(",")]
    if accept and not any(kind in _ACCEPTED for kind in media):
        message = f"406: Not Acceptable\n\nAvailable representations: {_OFFERED}"
        raise ApiError(406, "NotAcceptable", message, details={})


def wants_metadata(accept: str) -> bool:
    return "as=PartialObjectMetadata;" in accept


def partial_metadata(entry: Entry) -> Json:
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": entry.obj["metadata"],
    }
