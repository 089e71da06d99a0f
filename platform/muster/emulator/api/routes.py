"""From a path to what it names."""

from dataclasses import dataclass

from muster.emulator.registry.errors import ApiError, Json, bad_request
from muster.emulator.registry.resources import BY_PATH, Resource
from muster.emulator.registry.store import Key


@dataclass(frozen=True, slots=True)
class Target:
    """What a path of the API names: a collection (no name), an object, or a sub-resource of one."""

    resource: Resource
    namespace: str | None = None  # None: all namespaces, or cluster-scoped
    name: str | None = None
    subresource: str | None = None

    @property
    def key(self) -> Key:
        return (self.namespace or "", self.name or "")


def unknown_resource() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource", details={})


def method_not_allowed() -> ApiError:
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message, details={})


def resolve(path: str) -> Target | None:
    """The target of a resource path; None when it belongs to no group that is served."""
    steps = [step for step in path.split("/") if step]
    if len(steps) > 2 and steps[0] == "api" and steps[1] == "v1":
        group, version, rest = "", "v1", steps[2:]
    elif len(steps) > 3 and steps[0] == "apis":
        group, version, rest = steps[1], steps[2], steps[3:]
        if not any(served[:2] == (group, version) for served in BY_PATH):
            return None
    else:
        return None
    namespace = None
    if rest[0] == "namespaces" and len(rest) > 2 and (group, version, rest[2]) in BY_PATH:
        namespace, rest = rest[1], rest[2:]
    resource = BY_PATH.get((group, version, rest[0]))
    if resource is None or len(rest) > 3 or (namespace is not None and not resource.namespaced):
        raise unknown_resource()
    if resource.namespaced and namespace is None and len(rest) > 1:
        raise unknown_resource()
    target = Target(resource, namespace, *rest[1:])
    if target.subresource and target.subresource not in {sub.name for sub in resource.subresources}:
        raise unknown_resource()
    return target


def whole_number(query: Json, name: str) -> int | None:
    """A query parameter that must be a number; None when it is not given."""
    text = query.get(name, "")
    if not text:
        return None
    try:
        return int(text)
    except ValueError as error:
        message = f'strconv.ParseInt: parsing "{text}": invalid syntax'
        raise bad_request(message) from error


def flag(query: Json, name: str) -> bool:
    return query.get(name, "").lower() in ("1", "true", "t")
