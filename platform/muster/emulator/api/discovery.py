"""/version, /healthz, and discovery in both of its forms."""

from aiohttp import web

from muster.emulator.api.answers import json_answer
from muster.emulator.registry.errors import Json
from muster.emulator.registry.resources import RESOURCES, Resource, Subresource

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
VERSION = {
    "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36",
    "minCompatibilityMajor": "1", "minCompatibilityMinor": "35", "gitVersion": "v1.36.3",
    "gitCommit": "$Format:%H$", "gitTreeState": "", "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "go1.26.8", "compiler": "gc", "platform": "linux/amd64",
}  # fmt: skip


def discover(path: str, accept: str) -> web.Response | None:
    """The answer to a path above the resources; None when it is none of these."""
    steps = [step for step in path.split("/") if step]
    match steps:
        case ["version"]:
            return json_answer(VERSION)
        case ["healthz" | "livez" | "readyz", *_]:
            return web.Response(text="ok")
        case ["api"]:
            return _aggregated([""]) if _wants_aggregated(accept) else json_answer(_core_versions())
        case ["apis"]:
            return _aggregated(_groups()) if _wants_aggregated(accept) else json_answer(_group_list())
        case ["api", "v1"]:
            return json_answer(_resource_list("", "v1"))
        case ["apis", group] if group in _groups():
            return json_answer({"kind": "APIGroup", "apiVersion": "v1", **_group(group)})
        case ["apis", group, version] if any((r.group, r.version) == (group, version) for r in RESOURCES):
            return json_answer(_resource_list(group, version))
    return None


def _wants_aggregated(accept: str) -> bool:
    return any(part.strip().replace(" ", "") == AGGREGATED for part in accept.split(","))


def _groups() -> list[str]:
    return sorted({resource.group for resource in RESOURCES if resource.group})


def _of(group: str) -> list[Resource]:
    return sorted((r for r in RESOURCES if r.group == group), key=lambda resource: resource.plural)


def _core_versions() -> Json:
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def _group(name: str) -> Json:
    version = {"groupVersion": f"{name}/v1", "version": "v1"}
    return {"name": name, "versions": [version], "preferredVersion": version}


def _group_list() -> Json:
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(name) for name in _groups()]}


def _resource_list(group: str, version: str) -> Json:
    rows: list[Json] = []
    for resource in _of(group):
        row = {
            "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": list(resource.verbs),
        }  # fmt: skip
        if resource.short:
            row["shortNames"] = list(resource.short)
        rows.append(row)
        rows += [
            {
                "name": f"{resource.plural}/{sub.name}",
                "singularName": "",
                "namespaced": resource.namespaced,
                "kind": sub.kind,
                "verbs": list(sub.verbs),
            }
            for sub in resource.subresources
        ]
    name = f"{group}/{version}" if group else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": rows}


def _aggregated(groups: list[str]) -> web.Response:
    items = []
    for group in groups:
        version = {"version": "v1", "freshness": "Current", "resources": [_aggregated_row(r) for r in _of(group)]}
        items.append({"metadata": {"name": group} if group else {}, "versions": [version]})
    body = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}
    return json_answer(body, content_type=AGGREGATED)


def _aggregated_row(resource: Resource) -> Json:
    row: Json = {
        "resource": resource.plural,
        "responseKind": {"group": "", "version": "", "kind": resource.kind},  # empty: the group's own
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.categories:
        row["categories"] = list(resource.categories)
    if resource.short:
        row["shortNames"] = list(resource.short)
    if resource.subresources:
        row["subresources"] = [
            {
                "subresource": sub.name,
                "responseKind": _response_kind(resource, sub),
                "verbs": list(sub.verbs),
            }
            for sub in resource.subresources
        ]
    return row


def _response_kind(resource: Resource, sub: Subresource) -> Json:
    is_own = sub.group == resource.group
    return {"group": "" if is_own else sub.group, "version": "" if is_own else sub.version, "kind": sub.kind}
