"""The three patch forms, each a pure function from a document and a patch to a new document."""

from typing import Any

from muster.emulator.registry.errors import ApiError, Json

#: Lists that a strategic merge patch merges by a key; all other lists are replaced.
MERGE_KEYS = {
    "conditions": "type", "containers": "name", "initContainers": "name", "env": "name", "volumes": "name",
    "volumeMounts": "mountPath", "ports": "containerPort", "taints": "key", "addresses": "type",
    "ownerReferences": "uid", "imagePullSecrets": "name", "schedulingGates": "name", "hostAliases": "ip",
}  # fmt: skip
#: Lists of plain values that are merged as sets.
MERGE_SETS = ("finalizers",)


def merge_patch(document: Any, patch: Any) -> Any:
    """RFC 7386: null deletes, objects merge, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def strategic_patch(document: Any, patch: Any) -> Any:
    """Strategic merge: as a merge patch, but the lists of MERGE_KEYS are merged element by element."""
    if not isinstance(patch, dict):
        return patch
    if patch.get("$patch") == "replace":
        return {key: value for key, value in patch.items() if key != "$patch"}
    merged = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if key.startswith(("$setElementOrder/", "$retainKeys")):
            continue
        if key.startswith("$deleteFromPrimitiveList/"):
            field = key.partition("/")[2]
            merged[field] = [item for item in merged.get(field) or [] if item not in value]
        elif value is None:
            merged.pop(key, None)
        elif isinstance(value, list):
            merged[key] = _merge_lists(key, merged.get(key) or [], value)
        else:
            merged[key] = strategic_patch(merged.get(key), value)
    return merged


def _merge_lists(name: str, old: list[Any], new: list[Any]) -> list[Any]:
    if name in MERGE_SETS:
        return old + [item for item in new if item not in old]
    merge_key = MERGE_KEYS.get(name)
    if merge_key is None or not all(isinstance(item, dict) for item in new):
        return new
    if any(item.get("$patch") == "replace" for item in new):
        return [item for item in new if "$patch" not in item]
    merged = list(old)
    for item in new:
        at = next((i for i, had in enumerate(merged) if had.get(merge_key) == item.get(merge_key)), None)
        if item.get("$patch") == "delete":
            if at is not None:
                del merged[at]
        elif at is None:
            merged.append(strategic_patch({}, item))
        else:
            merged[at] = strategic_patch(merged[at], item)
    return merged


def rejected() -> ApiError:
    """How the server answers a JSON patch that cannot be applied."""
    message = "the server rejected our request due to an error in our request"
    return ApiError(422, "Invalid", message, details={})


def json_patch(document: Json, operations: Any) -> Json:
    """RFC 6902, on a copy that the caller hands over."""
    if not isinstance(operations, list):
        raise ApiError(400, "BadRequest", "error decoding patch: a JSON patch is a list of operations")
    root = {"": document}
    for operation in operations:
        try:
            _apply(root, operation)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise rejected() from error
    return root[""]


def _apply(root: Json, operation: Json) -> None:
    path, kind = operation["path"], operation["op"]
    if kind == "add":
        _add(root, path, operation["value"])
    elif kind == "remove":
        _remove(root, path)
    elif kind == "replace":
        _remove(root, path)
        _add(root, path, operation["value"])
    elif kind == "copy":
        _add(root, path, _read(root, operation["from"]))
    elif kind == "move":
        _add(root, path, _remove(root, operation["from"]))
    elif kind == "test":
        if _read(root, path) != operation["value"]:
            raise ValueError(path)
    else:
        raise ValueError(kind)


def _steps(path: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")]


def _parent(root: Json, path: str) -> tuple[Any, Any]:
    """The container that `path` names a place in, and the place: a key or an index."""
    *before, last = _steps(path)
    node: Any = root
    for step in before:
        node = node[int(step)] if isinstance(node, list) else node[step]
    if isinstance(node, list):
        return node, len(node) if last == "-" else int(last)
    return node, last


def _read(root: Json, path: str) -> Any:
    node, last = _parent(root, path)
    return node[last]


def _add(root: Json, path: str, value: Any) -> None:
    node, last = _parent(root, path)
    if isinstance(node, list):
        if last > len(node):
            raise IndexError(last)
        node.insert(last, value)
    else:
        node[last] = value


def _remove(root: Json, path: str) -> Any:
    node, last = _parent(root, path)
    return node.pop(last)
