"""Request bodies: decoded, and refused in the server's words."""

from typing import Any

import orjson
import yaml

from muster.emulator.registry.delete import DeleteOptions
from muster.emulator.registry.errors import ApiError, Json, bad_request
from muster.emulator.registry.resources import BY_KIND, Resource

_MEDIA = "application/json, application/yaml, application/vnd.kubernetes.protobuf"


def decode(body: bytes, content_type: str) -> Any:
    """JSON or YAML; protobuf and anything else is 415, as kubectl's typed commands expect."""
    media = content_type.split(";", maxsplit=1)[0].strip() or "application/json"
    if media == "application/yaml":
        return _yaml(body)
    if media != "application/json":
        message = f"the body of the request was in an unknown format - accepted media types include: {_MEDIA}"
        raise ApiError(415, "UnsupportedMediaType", message)
    return orjson.loads(body)


def _yaml(body: bytes) -> Any:
    try:
        return yaml.safe_load(body)
    except yaml.YAMLError as error:
        raise bad_request(f"error converting YAML to JSON: {error}") from error


def decode_object(resource: Resource, body: bytes, content_type: str) -> Json:
    """A whole object of the right kind."""
    try:
        obj = decode(body, content_type)
    except orjson.JSONDecodeError as error:
        text = body.decode(errors="replace")
        why = "unexpected end of JSON input" if _is_cut(body) else str(error)
        raise bad_request(
            f"the object provided is unrecognized (must be of type {resource.kind}): "
            f"couldn't get version/kind; json parse error: {why} ({text[:64]})"
        ) from error
    if not isinstance(obj, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {resource.kind})")
    kind, version = obj.get("kind", resource.kind), obj.get("apiVersion", resource.api_version)
    if (version, kind) != (resource.api_version, resource.kind):
        raise bad_request(_wrong_kind(resource, version, kind))
    meta = obj.get("metadata", {})
    if not isinstance(meta, dict) or not isinstance(obj.get("spec", {}), dict):
        raise bad_request(
            f'{kind} in version "{version}" cannot be handled as a {resource.kind}: json: cannot unmarshal'
        )
    return obj


def _is_cut(body: bytes) -> bool:
    """Whether the document only lacks its end: every opening of it would be closed by more input."""
    text = body.strip()
    return not text or text.count(b"{") > text.count(b"}")


def _wrong_kind(resource: Resource, version: str, kind: str) -> str:
    if (version, kind) not in BY_KIND:
        return f'no kind "{kind}" is registered for version "{version}" in scheme'
    internal = f"{resource.group or 'core'}.{resource.kind}"
    short = version.rpartition("/")[2]
    return (
        f'{kind} in version "{short}" cannot be handled as a {resource.kind}: '
        f"converting ({short}.{kind}) to ({internal}): unknown conversion"
    )


def delete_options(body: bytes, query: Json) -> DeleteOptions:
    """From the body; what it leaves out from the query."""
    given = orjson.loads(body) if body.strip() else {}
    preconditions = given.get("preconditions") or {}
    grace = given.get("gracePeriodSeconds")
    if grace is None and query.get("gracePeriodSeconds"):
        grace = int(query["gracePeriodSeconds"])
    orphans = given.get("orphanDependents")
    return DeleteOptions(
        grace=grace,
        uid=preconditions.get("uid"),
        resource_version=preconditions.get("resourceVersion"),
        propagation=given.get("propagationPolicy")
        or query.get("propagationPolicy")
        or ("Orphan" if orphans else "Background"),
        dry_run=bool(given.get("dryRun")) or query.get("dryRun") == "All",
    )
