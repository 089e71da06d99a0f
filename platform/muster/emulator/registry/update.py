"""Changing an object: its main resource or its status, never both at once."""

from dataclasses import dataclass

import orjson

from muster.emulator.registry import kinds, pods
from muster.emulator.registry.delete import finish_deletion
from muster.emulator.registry.errors import Json, bad_request
from muster.emulator.registry.resources import NAMESPACES, PODS, Resource
from muster.emulator.registry.store import Entry, Key, Store

#: Metadata that no client may change.
_FIXED = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "namespace",
    "name",
)
_MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


@dataclass(frozen=True, slots=True)
class UpdateOptions:
    dry_run: bool = False
    status: bool = False  # the /status sub-resource: only status and metadata of no spec count


def update(
    store: Store,
    resource: Resource,
    key: Key,
    new: Json,
    *,
    options: UpdateOptions = UpdateOptions(),
) -> Entry:
    """Replace an object by `new`, which is handed over; keeps what `new` may not touch."""
    before = store.get(resource, key)
    _check_version(resource, key, before, new)
    new = _kept_metadata(before, new)
    if options.status:
        new = {**before.copy(), "metadata": new["metadata"], "status": new.get("status", {})}
    else:
        _replace_spec(resource, before, new)
    kinds.check(resource, new)
    if resource is PODS:
        pods.complete_conditions(new)
    if resource.has_generation and new.get("spec") != before.obj.get("spec"):
        new["metadata"]["generation"] = before.obj["metadata"].get("generation", 0) + 1
    if options.dry_run:
        return Entry(new, orjson.dumps(new), before.rv)
    entry = store.update(resource, new)
    return finish_deletion(store, resource, entry)


def _check_version(resource: Resource, key: Key, before: Entry, new: Json) -> None:
    meta = new.setdefault("metadata", {})
    if meta.get("name", key[1]) != key[1]:
        raise bad_request(f"the name of the object ({meta['name']}) does not match the name on the URL ({key[1]})")
    if meta.get("namespace", key[0]) != key[0]:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    had = before.obj["metadata"]
    if meta.get("uid", had["uid"]) != had["uid"]:
        text = f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: {had['uid']}"
        raise resource.conflict(key[1], text)
    if meta.get("resourceVersion") and meta["resourceVersion"] != str(before.rv):
        raise resource.conflict(key[1], _MODIFIED)


def _kept_metadata(before: Entry, new: Json) -> Json:
    had = before.obj["metadata"]
    meta = {key: value for key, value in new["metadata"].items() if key not in (*_FIXED, "managedFields", "selfLink")}
    meta.update({field: had[field] for field in _FIXED if field in had})
    for field in ("labels", "annotations", "ownerReferences", "finalizers"):
        if not meta.get(field):
            meta.pop(field, None)
    kept = {key: value for key, value in new.items() if key not in ("apiVersion", "kind")}
    return {**kept, "metadata": meta}


def _replace_spec(resource: Resource, before: Entry, new: Json) -> None:
    """The main resource: status stays as it was; a pod's spec may change in few places only."""
    for unknown in kinds.unknown_fields(resource, new):
        del new[unknown]
    if "status" in before.obj:
        new["status"] = before.copy()["status"]
    else:
        new.pop("status", None)
    if resource is NAMESPACES:
        new["spec"] = before.copy()["spec"]
    if resource is PODS:
        new.setdefault("spec", {})
        if not new["spec"].get("schedulingGates"):
            new["spec"].pop("schedulingGates", None)
        causes = pods.update_causes(before.obj["spec"], new["spec"])
        if causes:
            raise resource.invalid(new["metadata"]["name"], causes)
