"""Pods at the API server: defaults, quality of service, and what an update may change."""

import re
from typing import Any

from muster.emulator.clock import stamp
from muster.emulator.registry.errors import Cause, Json, forbidden_value, invalid_value, required
from muster.emulator.registry.quantities import exact, in_units, is_whole

TERMINAL = ("Succeeded", "Failed")
TOLERATION_SECONDS = 300
IMMUTABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_NATIVE = ("cpu", "memory", "ephemeral-storage")


def default_spec(spec: Json) -> None:
    """Fill what a client left out, as the API server and its default admission do."""
    for field, value in (
        ("dnsPolicy", "ClusterFirst"),
        ("enableServiceLinks", True),
        ("restartPolicy", "Always"),
        ("schedulerName", "default-scheduler"),
        ("terminationGracePeriodSeconds", 30),
        ("securityContext", {}),
        ("preemptionPolicy", "PreemptLowerPriority"),
        ("priority", 0),
    ):
        spec.setdefault(field, value)
    for container in [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]:
        _default_container(container)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    tolerations = spec.setdefault("tolerations", [])
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(t.get("key") in (None, "", key) and t.get("effect") in (None, "", "NoExecute") for t in tolerations):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATION_SECONDS}
            )


def _default_container(container: Json) -> None:
    image = container.get("image", "")
    tagged = ":" in image.rpartition("/")[2] and not image.endswith(":latest")
    container.setdefault("imagePullPolicy", "IfNotPresent" if tagged or "@" in image else "Always")
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    resources = container.setdefault("resources", {})
    for name, limit in (resources.get("limits") or {}).items():
        resources.setdefault("requests", {}).setdefault(name, limit)


def first_status(spec: Json) -> Json:
    """The status of a new pod."""
    status: Json = {"phase": "Pending", "qosClass": qos_class(spec)}
    if spec.get("schedulingGates"):
        status["conditions"] = [
            condition(
                "PodScheduled", "False", "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates"
            )
        ]
    elif spec.get("nodeName"):
        status["conditions"] = [condition("PodScheduled", "True")]
    return status


def condition(kind: str, status: str, reason: str = "", message: str = "") -> Json:
    """A pod condition that turns now."""
    made: Json = {"type": kind, "status": status, "lastProbeTime": None, "lastTransitionTime": stamp()}
    if reason:
        made["reason"] = reason
    if message:
        made["message"] = message
    return made


def complete_conditions(pod: Json) -> None:
    """Conditions as a typed server gives them back: with both times, if only as null."""
    for made in pod.get("status", {}).get("conditions") or []:
        made.setdefault("lastProbeTime", None)
        made.setdefault("lastTransitionTime", None)


def set_condition(obj: Json, made: Json) -> None:
    """Put a condition in place of the one of its type; the transition time stays while the status does."""
    conditions = obj.setdefault("status", {}).setdefault("conditions", [])
    for at, had in enumerate(conditions):
        if had["type"] == made["type"]:
            if had["status"] == made["status"]:
                made = {**made, "lastTransitionTime": had.get("lastTransitionTime")}
            conditions[at] = made
            return
    conditions.append(made)


def qos_class(spec: Json) -> str:
    """Guaranteed, Burstable or BestEffort, by CPU and memory of all containers."""
    containers = [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]
    named, guaranteed = False, True
    for container in containers:
        resources = container.get("resources") or {}
        requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
        for name in ("cpu", "memory"):
            request, limit = exact(requests.get(name, 0)), exact(limits.get(name, 0))
            named = named or request > 0 or limit > 0
            guaranteed = guaranteed and limit > 0 and request == limit
    if not named:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"


def requests_of(spec: Json) -> dict[str, int]:
    """What a pod takes from its node: cpu in thousandths, memory in bytes, devices; sidecars count with containers."""
    running: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.get("containers") or []:
        _add(running, _container_requests(container))
    for container in spec.get("initContainers") or []:
        asked = _container_requests(container)
        if container.get("restartPolicy") == "Always":
            _add(running, asked)
        for name, amount in asked.items():
            peak[name] = max(peak.get(name, 0), amount)
    total = {name: max(running.get(name, 0), peak.get(name, 0)) for name in running | peak}
    _add(total, {name: in_units(name, value) for name, value in (spec.get("overhead") or {}).items()})
    return total


def _container_requests(container: Json) -> dict[str, int]:
    requests = (container.get("resources") or {}).get("requests") or {}
    return {name: in_units(name, value) for name, value in requests.items()}


def _add(total: dict[str, int], more: dict[str, int]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def validate(pod: Json) -> list[Cause]:
    """The rules of the server that our clients meet: containers, their names and their resources."""
    spec = pod["spec"]
    causes: list[Cause] = []
    if not spec.get("containers"):
        causes.append(required("spec.containers"))
    for at, container in enumerate(spec.get("containers") or []):
        path = f"spec.containers[{at}]"
        if not container.get("name"):
            causes.append(required(f"{path}.name"))
        if not container.get("image"):
            causes.append(required(f"{path}.image"))
        causes += _resource_causes(f"{path}.resources", container.get("resources") or {})
    if spec["restartPolicy"] not in ("Always", "OnFailure", "Never"):
        text = f'Unsupported value: "{spec["restartPolicy"]}": supported values: "Always", "OnFailure", "Never"'
        causes.append(Cause("spec.restartPolicy", text, "FieldValueNotSupported"))
    return causes


def _resource_causes(path: str, resources: Json) -> list[Cause]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    causes = []
    for kind, amounts in (("limits", limits), ("requests", requests)):
        for name, value in amounts.items():
            place = f"{path}.{kind}[{name}]"
            if not _is_quantity(value):
                causes.append(invalid_value(place, value, "must be a quantity"))
            elif name not in _NATIVE and not is_whole(value):
                causes.append(invalid_value(place, value, "must be an integer"))
    if causes:
        return causes
    for name, limit in limits.items():
        request = requests.get(name, limit)
        if "/" in name and exact(request) != exact(limit):
            causes.append(invalid_value(f"{path}.requests", request, f"must be equal to {name} limit of {limit}"))
        elif exact(request) > exact(limit):
            why = f"must be less than or equal to {name} limit of {limit}"
            causes.append(invalid_value(f"{path}.requests", request, why))
    return causes


def _is_quantity(value: Any) -> bool:
    try:
        exact(value)
    except ValueError:
        return False
    return True


def update_causes(old: Json, new: Json) -> list[Cause]:
    """Which changes of a pod's spec the server forbids."""
    return [] if _frozen(old, new) == _frozen(old, old) else [forbidden_value("spec", IMMUTABLE)]


def _frozen(old: Json, new: Json) -> Json:
    """The part of `new` that must equal the old spec."""
    frozen = {key: value for key, value in new.items() if key not in ("activeDeadlineSeconds", "schedulingGates")}
    for kind in ("containers", "initContainers"):
        frozen[kind] = [{**container, "image": ""} for container in new.get(kind) or []]
    kept = old.get("tolerations") or []
    added = new.get("tolerations") or []
    frozen["tolerations"] = kept if all(toleration in added for toleration in kept) else added
    gates = {gate["name"] for gate in old.get("schedulingGates") or []}
    frozen["gates_added"] = sorted({gate["name"] for gate in new.get("schedulingGates") or []} - gates)
    if old.get("schedulingGates"):
        frozen.pop("nodeSelector", None)
        frozen.pop("affinity", None)
    return frozen


NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
NAME_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
