"""Deleting an object: preconditions, grace, finalizers."""

from dataclasses import dataclass

from muster.emulator.clock import now, stamp
from muster.emulator.registry import pods
from muster.emulator.registry.errors import ApiError, Json
from muster.emulator.registry.resources import NAMESPACES, PODS, Resource
from muster.emulator.registry.store import Entry, Key, Store


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """metav1.DeleteOptions, from the body or the query."""

    grace: int | None = None  # seconds
    uid: str | None = None
    resource_version: str | None = None
    propagation: str = "Background"  # Background | Orphan; Foreground is done as Background
    dry_run: bool = False


def delete(store: Store, resource: Resource, key: Key, options: DeleteOptions = DeleteOptions()) -> tuple[Entry, bool]:
    """Delete or begin to delete. Returns the object as it was answered, and whether it is gone."""
    entry = store.get(resource, key)
    _check_preconditions(resource, key, entry, options)
    obj = entry.copy()
    waits = _mark(resource, obj, options)
    if options.dry_run:
        return entry, False
    if not waits and not obj["metadata"].get("finalizers"):
        return store.remove(resource, key, obj), True
    return store.update(resource, obj), False


def finish_deletion(store: Store, resource: Resource, entry: Entry) -> Entry:
    """Remove an object that was being deleted once nothing holds it: the last finalizer went."""
    meta = entry.obj["metadata"]
    if not meta.get("deletionTimestamp") or meta.get("finalizers") or resource is NAMESPACES:
        return entry
    if resource is PODS and meta.get("deletionGracePeriodSeconds", 0) > 0:
        return entry
    return store.remove(resource, (meta.get("namespace", ""), meta["name"]))


def _check_preconditions(resource: Resource, key: Key, entry: Entry, options: DeleteOptions) -> None:
    had = entry.obj["metadata"]["uid"]
    if options.uid and options.uid != had:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({had}). "
            "The object might have been deleted and then recreated"
        )
    elif options.resource_version and options.resource_version != str(entry.rv):
        why = (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match the "
            f"ResourceVersion in record ({entry.rv}). The object might have been modified"
        )
    else:
        return
    message = f'Operation cannot be fulfilled on {resource.kind} "{key[1]}": {why}'
    raise ApiError(409, "Conflict", message, details={"name": key[1], "kind": resource.kind})


def _mark(resource: Resource, obj: Json, options: DeleteOptions) -> bool:
    """Write the deletion into the object; True when something still has to end before it may go."""
    meta = obj["metadata"]
    if resource is PODS:
        return _mark_pod(obj, options.grace)
    if resource is NAMESPACES:
        meta.setdefault("deletionTimestamp", stamp())
        obj["status"] = {**obj.get("status", {}), "phase": "Terminating"}
        return True
    if meta.get("finalizers") and "deletionTimestamp" not in meta:
        meta["deletionTimestamp"] = stamp()
        meta["deletionGracePeriodSeconds"] = 0
        if resource.has_generation:
            meta["generation"] = meta.get("generation", 0) + 1
    return False


def _mark_pod(pod: Json, asked: int | None) -> bool:
    """A pod that runs somewhere waits for its kubelet; one that does not is gone at once."""
    meta, spec = pod["metadata"], pod["spec"]
    grace = spec.get("terminationGracePeriodSeconds", 30) if asked is None else asked
    if grace < 0:
        grace = 1
    if not spec.get("nodeName") or pod.get("status", {}).get("phase") in pods.TERMINAL:
        grace = 0
    if "deletionTimestamp" in meta:
        if grace >= meta.get("deletionGracePeriodSeconds", 0):
            return bool(meta["deletionGracePeriodSeconds"] > 0)
    else:
        meta["generation"] = meta.get("generation", 0) + 1
    meta["deletionTimestamp"] = stamp(now() + grace)
    meta["deletionGracePeriodSeconds"] = grace
    return grace > 0
