"""Creating an object: identity, defaults, admission, rules, storage."""

import secrets
import uuid
from dataclasses import dataclass

import orjson

from muster.emulator.clock import stamp
from muster.emulator.registry import kinds
from muster.emulator.registry.errors import Cause, Json, bad_request
from muster.emulator.registry.quota import charge_quotas
from muster.emulator.registry.resources import NAMESPACES, PODS, PRIORITIES, Resource
from muster.emulator.registry.store import Entry, Store

#: Letters that generateName draws from: no vowels, so that no words appear.
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(frozen=True, slots=True)
class CreateOptions:
    dry_run: bool = False
    strict: bool = False  # fieldValidation=Strict: unknown fields are errors


def create(
    store: Store,
    resource: Resource,
    namespace: str,
    obj: Json,
    *,
    options: CreateOptions = CreateOptions(),
) -> Entry:
    """Store a new object; `obj` is handed over. `namespace` is "" for cluster-scoped kinds."""
    _drop_unknown(resource, obj, options.strict)
    meta = _identify(resource, namespace, obj)
    if resource.namespaced:
        _check_namespace(store, resource, namespace, meta["name"])
    if resource is PODS:
        _resolve_priority(store, obj)
    kinds.apply_defaults(resource, obj)
    kinds.check(resource, obj)
    kinds.finish(resource, obj)
    if store.find(resource, (meta.get("namespace", ""), meta["name"])):
        raise resource.already_exists(meta["name"])
    if resource is PODS:
        charge_quotas(store, namespace, obj, dry_run=options.dry_run)
    if options.dry_run:
        return Entry(obj, orjson.dumps(obj), 0)
    return store.create(resource, obj)


def _drop_unknown(resource: Resource, obj: Json, strict: bool) -> None:
    unknown = kinds.unknown_fields(resource, obj)
    if unknown and strict:
        told = ", ".join(f'unknown field "{name}"' for name in unknown)
        raise bad_request(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
            f"strict decoding error: {told}"
        )
    for name in ("apiVersion", "kind", *unknown):
        obj.pop(name, None)


def _identify(resource: Resource, namespace: str, obj: Json) -> Json:
    """Give the object its name, namespace, uid, times and generation; what a client set of these is ignored."""
    meta: Json = obj.setdefault("metadata", {})
    if meta.get("namespace", namespace) != namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    for field in ("resourceVersion", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"):
        meta.pop(field, None)
    for field in ("labels", "annotations", "ownerReferences", "finalizers"):
        if not meta.get(field):
            meta.pop(field, None)  # empty ones are not kept
    if not meta.get("name"):
        if not meta.get("generateName"):
            cause = Cause("metadata.name", "Required value: name or generateName is required", "FieldValueRequired")
            raise resource.invalid("", [cause])
        meta["name"] = meta["generateName"] + "".join(secrets.choice(_LETTERS) for _ in range(5))
    if resource.namespaced:
        meta["namespace"] = namespace
    meta["uid"] = str(uuid.uuid4())
    meta["creationTimestamp"] = stamp()
    meta.pop("generation", None)
    if resource.has_generation:
        meta["generation"] = 1
    return meta


def _check_namespace(store: Store, resource: Resource, namespace: str, name: str) -> None:
    entry = store.find(NAMESPACES, ("", namespace))
    if entry is None:
        raise NAMESPACES.not_found(namespace)
    if entry.obj["metadata"].get("deletionTimestamp"):
        cause = Cause("metadata.namespace", f"namespace {namespace} is being terminated", "NamespaceTerminating")
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        raise resource.forbidden(name, why, [cause])


def _resolve_priority(store: Store, pod: Json) -> None:
    """Fill spec.priority from the PriorityClass that the pod names."""
    spec = pod.get("spec") or {}
    name = spec.get("priorityClassName")
    if not name:
        return
    entry = store.find(PRIORITIES, ("", name))
    if entry is None:
        raise PODS.forbidden(pod["metadata"]["name"], f"no PriorityClass with name {name} was found")
    spec["priority"] = entry.obj.get("value", 0)
    spec["preemptionPolicy"] = entry.obj.get("preemptionPolicy", "PreemptLowerPriority")
