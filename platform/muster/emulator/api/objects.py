"""The verbs on collections and objects: list, watch, create, get, update, patch, delete."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from aiohttp import web

from muster.emulator.api.answers import json_answer, object_answer, success
from muster.emulator.api.bodies import decode, decode_object, delete_options
from muster.emulator.api.lists import encode_list
from muster.emulator.api.routes import Target, method_not_allowed
from muster.emulator.registry.create import CreateOptions, create
from muster.emulator.registry.delete import delete
from muster.emulator.registry.errors import ApiError, Cause, Json, bad_request
from muster.emulator.registry.patches import json_patch, merge_patch, strategic_patch
from muster.emulator.registry.resources import Codec, Resource
from muster.emulator.registry.selectors import matcher
from muster.emulator.registry.store import Entry, key_of
from muster.emulator.registry.update import UpdateOptions, update
from muster.emulator.world import World


@dataclass(frozen=True, slots=True)
class Call:
    """One request, read: what it names, how, and with which body."""

    method: str
    target: Target
    query: Json
    body: bytes
    content_type: str
    accept: str

    @property
    def dry_run(self) -> bool:
        return bool(self.query.get("dryRun") == "All")

    @property
    def is_status(self) -> bool:
        return self.target.subresource == "status"


def post(world: World, call: Call) -> web.Response:
    target = call.target
    if target.name is not None or (target.resource.namespaced and target.namespace is None):
        raise method_not_allowed()
    obj = decode_object(target.resource, call.body, call.content_type)
    if target.resource.codec is not None:
        obj = _decoded_new(target.resource, target.resource.codec, obj)
    options = CreateOptions(dry_run=call.dry_run, strict=call.query.get("fieldValidation") == "Strict")
    entry = create(world.store, target.resource, target.namespace or "", obj, options=options)
    return object_answer(target.resource, entry, call.accept, 201)


def _decoded_new(resource: Resource, codec: Codec, obj: Json) -> Json:
    """A new object in the form it is stored in; 422 when this form asks for more than the stored one."""
    causes = codec.causes(obj)
    if causes:
        meta = obj.get("metadata", {})
        raise resource.invalid(meta.get("name") or meta.get("generateName", ""), causes)
    return codec.to_stored(obj)


def get(world: World, call: Call) -> web.Response:
    target = call.target
    if target.name is None:
        return world.lister.answer(target, call.query, call.accept)
    world.lister.check_version(call.query)
    return object_answer(target.resource, world.store.get(target.resource, target.key), call.accept)


def put(world: World, call: Call) -> web.Response:
    target = call.target
    if target.name is None:
        raise method_not_allowed()
    obj = decode_object(target.resource, call.body, call.content_type)
    if target.resource.codec is not None:
        obj = target.resource.codec.to_stored(obj)
    options = UpdateOptions(dry_run=call.dry_run, status=call.is_status)
    entry = update(world.store, target.resource, target.key, obj, options=options)
    return object_answer(target.resource, entry, call.accept)


def patch(world: World, call: Call) -> web.Response:
    target = call.target
    if target.name is None:
        raise method_not_allowed()
    media = call.content_type.split(";")[0].strip()
    if media == "application/apply-patch+yaml":
        return _apply(world, call)
    patcher = _PATCHERS.get(media)
    if patcher is None:
        raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", details={})
    entry = world.store.get(target.resource, target.key)
    try:
        changes = orjson.loads(call.body)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"error decoding patch: {error}") from error
    codec = target.resource.codec
    if codec is None:
        return _patched(world, call, patcher(entry.copy(), changes), entry)
    return _patched(world, call, codec.to_stored(patcher(codec.from_stored(entry.copy()), changes)), entry)


def _patched(world: World, call: Call, changed: Json, entry: Entry) -> web.Response:
    meta = changed.get("metadata", {})
    if meta.get("resourceVersion") == str(entry.rv):
        meta.pop("resourceVersion")
    options = UpdateOptions(dry_run=call.dry_run, status=call.is_status)
    entry = update(world.store, call.target.resource, call.target.key, changed, options=options)
    return object_answer(call.target.resource, entry, call.accept)


_PATCHERS: dict[str, Callable[[Any, Any], Any]] = {
    "application/merge-patch+json": merge_patch,
    "application/strategic-merge-patch+json": strategic_patch,
    "application/json-patch+json": json_patch,
}


def _apply(world: World, call: Call) -> web.Response:
    """Server-side apply, without ownership of fields: creates, or merges over what is there."""
    target = call.target
    if not call.query.get("fieldManager"):
        cause = Cause("fieldManager", "Required value: is required for apply patch", "FieldValueRequired")
        message = f'PatchOptions.meta.k8s.io "" is invalid: {cause.field}: {cause.message}'
        details = {"group": "meta.k8s.io", "kind": "PatchOptions", "causes": [cause.json()]}
        raise ApiError(422, "Invalid", message, details=details)
    changes = decode(call.body, "application/yaml")
    if not isinstance(changes, dict):
        raise bad_request("error decoding patch: an apply patch is an object")
    entry = world.store.find(target.resource, target.key)
    if entry is None:
        changes.setdefault("metadata", {})["name"] = target.name
        options = CreateOptions(dry_run=call.dry_run)
        entry = create(world.store, target.resource, target.namespace or "", changes, options=options)
        return object_answer(target.resource, entry, call.accept, 201)
    return _patched(world, call, strategic_patch(entry.copy(), changes), entry)


def remove(world: World, call: Call) -> web.Response:
    target = call.target
    if target.subresource is not None:
        raise method_not_allowed()
    options = delete_options(call.body, call.query)
    if target.name is None:
        return _remove_collection(world, call)
    world.controllers.note_deletion(target.resource, target.key, options.propagation)
    entry, gone = delete(world.store, target.resource, target.key, options)
    if gone and not target.resource.returns_deleted:
        details = {**target.resource.details(target.key[1]), "uid": entry.obj["metadata"]["uid"]}
        return success(200, details)
    return object_answer(target.resource, entry, call.accept)


def _remove_collection(world: World, call: Call) -> web.Response:
    resource = call.target.resource
    if "deletecollection" not in resource.verbs or (resource.namespaced and call.target.namespace is None):
        raise method_not_allowed()
    options = delete_options(call.body, call.query)
    matches = matcher(resource, call.query.get("labelSelector", ""), call.query.get("fieldSelector", ""))
    chosen = [
        entry for entry in world.store.entries(resource, call.target.namespace) if matches is None or matches(entry.obj)
    ]
    rv = world.store.rv
    for entry in chosen:
        delete(world.store, resource, key_of(entry.obj), options)
    return json_answer(encode_list(resource, {"resourceVersion": str(rv)}, chosen))


VERBS: dict[str, Callable[[World, Call], web.Response]] = {
    "GET": get, "POST": post, "PUT": put, "PATCH": patch, "DELETE": remove,
}  # fmt: skip
