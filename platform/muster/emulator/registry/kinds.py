"""What the server adds to, and demands of, each kind when it is created or changed."""

import ipaddress
from collections.abc import Callable

from muster.emulator.registry import pods
from muster.emulator.registry.errors import Cause, Json, forbidden_value, invalid_value
from muster.emulator.registry.resources import (
    BUDGETS,
    EVENTS,
    NAMESPACES,
    NODES,
    PODS,
    PRIORITIES,
    QUOTAS,
    SERVICES,
    Resource,
)

#: A node with this annotation has a (simulated) kubelet here; any other stays without one.
KUBELET = "emulator.muster.dev/node"
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
HIGHEST_PRIORITY = 1_000_000_000
#: Top-level fields beside apiVersion, kind, metadata, spec and status, by kind. Kinds that are not named take any.
FIELDS = {"Pod": ("spec", "status"), "Node": ("spec", "status"), "Namespace": ("spec", "status"),
          "Service": ("spec", "status"), "ConfigMap": ("data", "binaryData", "immutable")}  # fmt: skip
_TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_first_address = int(ipaddress.IPv4Address("10.96.0.10"))


def _pod(pod: Json) -> None:
    pod.setdefault("spec", {})
    pods.default_spec(pod["spec"])


def _namespace(namespace: Json) -> None:
    meta = namespace["metadata"]
    meta.setdefault("labels", {})["kubernetes.io/metadata.name"] = meta["name"]
    namespace.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])
    namespace["status"] = {"phase": "Active"}


def _node(node: Json) -> None:
    taints = node.setdefault("spec", {}).setdefault("taints", [])
    if NOT_READY not in taints:
        taints.append(dict(NOT_READY))
    status = node.setdefault("status", {})
    status.setdefault("daemonEndpoints", {"kubeletEndpoint": {"Port": 0}})
    info = dict.fromkeys(
        ("architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion",
         "machineID", "operatingSystem", "osImage", "systemUUID"), ""
    )  # fmt: skip
    status["nodeInfo"] = info | status.get("nodeInfo", {})


def _service(service: Json) -> None:
    spec = service.setdefault("spec", {})
    defaults: Json = {
        "type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster",
        "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
    }  # fmt: skip
    for field, value in defaults.items():
        spec.setdefault(field, value)
    if not spec.get("clusterIP"):
        # Spread by name: unique enough for addresses that nobody dials.
        offset = sum(ord(letter) * 31**at for at, letter in enumerate(service["metadata"]["name"])) % 60_000
        spec["clusterIP"] = str(ipaddress.IPv4Address(_first_address + offset))
    spec["clusterIPs"] = [spec["clusterIP"]]
    for port in spec.get("ports") or []:
        port.setdefault("protocol", "TCP")
        port.setdefault("targetPort", port["port"])
    service["status"] = {"loadBalancer": {}}


def _event(event: Json) -> None:
    event.setdefault("eventTime", None)
    event.setdefault("reportingComponent", "")
    event.setdefault("reportingInstance", "")
    event.setdefault("source", {})


def _budget(budget: Json) -> None:
    budget["status"] = dict.fromkeys(("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"), 0)


def _quota(quota: Json) -> None:
    quota["status"] = {}


_DEFAULTS: dict[str, Callable[[Json], None]] = {
    PODS.key: _pod, NAMESPACES.key: _namespace, NODES.key: _node, SERVICES.key: _service,
    EVENTS.key: _event, QUOTAS.key: _quota, BUDGETS.key: _budget,
}  # fmt: skip


def apply_defaults(resource: Resource, obj: Json) -> None:
    """Complete a new object; kinds without an entry are kept as they were sent."""
    fill = _DEFAULTS.get(resource.key)
    if fill is not None:
        fill(obj)


def finish(resource: Resource, obj: Json) -> None:
    """What only a valid object gets: a pod's first status."""
    if resource is PODS:
        obj["status"] = pods.first_status(obj["spec"])


def unknown_fields(resource: Resource, obj: Json) -> list[str]:
    """Top-level keys that the kind does not have; deeper ones are not looked at."""
    known = FIELDS.get(resource.kind)
    if known is None:
        return []
    return [key for key in obj if key not in ("apiVersion", "kind", "metadata", *known)]


def _node_causes(node: Json) -> list[Cause]:
    causes = []
    for at, taint in enumerate(node.get("spec", {}).get("taints") or []):
        if taint.get("effect") not in _TAINT_EFFECTS:
            listed = ", ".join(f'"{effect}"' for effect in _TAINT_EFFECTS)
            text = f'Unsupported value: "{taint.get("effect", "")}": supported values: {listed}'
            # The server checks taints twice on an update and says so twice.
            causes += [Cause(f"metadata.taints[{at}].effect", text, "FieldValueNotSupported")] * 2
    return causes


def _event_causes(event: Json) -> list[Cause]:
    namespace = event.get("involvedObject", {}).get("namespace", "")
    if namespace and namespace != event["metadata"].get("namespace"):
        return [invalid_value("involvedObject.namespace", namespace, "does not match event.namespace")]
    return []


def _priority_causes(priority: Json) -> list[Cause]:
    name = priority["metadata"]["name"]
    if name.startswith("system-"):
        why = (
            "priority class names with 'system-' prefix are reserved for system use only. "
            f"error: {name} is not a known system priority class"
        )
        return [forbidden_value("metadata.name", why)]
    if priority.get("value", 0) > HIGHEST_PRIORITY:
        return [forbidden_value("value", f"maximum allowed value of a user defined priority is {HIGHEST_PRIORITY}")]
    return []


_RULES: dict[str, Callable[[Json], list[Cause]]] = {
    PODS.key: pods.validate, NODES.key: _node_causes, EVENTS.key: _event_causes, PRIORITIES.key: _priority_causes,
}  # fmt: skip


def causes_of(resource: Resource, obj: Json) -> list[Cause]:
    """Every rule the object breaks; its name's rule first."""
    name = obj["metadata"]["name"]
    causes = [] if pods.NAME.fullmatch(name) else [invalid_value("metadata.name", name, pods.NAME_RULE)]
    rule = _RULES.get(resource.key)
    return causes + rule(obj) if rule else causes


def check(resource: Resource, obj: Json) -> None:
    """Raise 422 when the object breaks a rule."""
    causes = causes_of(resource, obj)
    if causes:
        raise resource.invalid(obj["metadata"]["name"], causes)
