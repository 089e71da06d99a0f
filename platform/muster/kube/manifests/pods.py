"""A worker's pod: unbound, with our schedulerName, so that nobody else places it before all of its gang were accepted."""

from __future__ import annotations

from typing import Any

from muster.kube.manifests.devices import demand
from muster.kube.manifests.environment import HOSTFILE_FOLDER, environment
from muster.kube.manifests.gang import Gang, Member
from muster.kube.manifests.names import PREFIX, QUEUE_ANNOTATION, ROLE_LABEL, WORKER_LABEL
from muster.kube.manifests.objects import labels

CONTAINER = "worker"
SHARED_MEMORY = "/dev/shm"
# A user that is not root, so that images which say nothing still start under the restricted standard.
USER_ID = 1000


def pod(gang: Gang, member: Member, owners: list[dict[str, Any]]) -> dict[str, Any]:
    """The manifest of one worker's pod; its devices are named where its node's pool lets us choose."""
    devices = demand(member, CONTAINER)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": member.pod_name,
            "namespace": gang.namespace,
            "labels": {**labels(gang), ROLE_LABEL: member.role, WORKER_LABEL: str(member.worker_id)},
            "annotations": {
                **_users_annotations(member),
                QUEUE_ANNOTATION: gang.queue,
                **gang.annotations,
                **devices.annotations,
            },
            "ownerReferences": owners,
        },
        "spec": {
            "schedulerName": gang.scheduler_name,
            "restartPolicy": "Never",
            "hostname": member.pod_name,
            "subdomain": gang.name,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": gang.grace_seconds,
            "nodeSelector": {key: str(value) for key, value in (member.spec.get("node_selector") or {}).items()},
            "tolerations": member.spec.get("tolerations") or [],
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": USER_ID,
                "fsGroup": USER_ID,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [_container(gang, member, devices.resources)],
            "volumes": _volumes(gang, member),
        },
    }


def _users_annotations(member: Member) -> dict[str, str]:
    """The job's own annotations, without the two by which the platform gives out devices."""
    given = (member.spec.get("annotations") or {}).items()
    taken = (f"{PREFIX}devices", "hami.io/")
    return {key: _text(value) for key, value in given if not key.startswith(taken)}


def _container(gang: Gang, member: Member, extended: dict[str, int]) -> dict[str, Any]:
    spec = member.spec
    variables = environment(gang, member) | {key: _text(value) for key, value in (spec.get("env") or {}).items()}
    container: dict[str, Any] = {
        "name": CONTAINER,
        "image": spec.get("image", ""),
        "env": [{"name": key, "value": value} for key, value in variables.items()],
        "resources": _resources(member, extended),
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": _mounts(member),
    }
    for key in ("command", "args"):
        if spec.get(key):
            container[key] = [_text(word) for word in spec[key]]
    if gang.checkpoint_command:
        container["lifecycle"] = {"preStop": {"exec": {"command": list(gang.checkpoint_command)}}}
    return container


def _resources(member: Member, extended: dict[str, int]) -> dict[str, dict[str, str]]:
    """Cores are asked for but not capped (idle ones would be wasted); memory and devices are both."""
    requests = {}
    if member.cpu_milli:
        requests["cpu"] = f"{member.cpu_milli}m"
    limits = {name: str(count) for name, count in extended.items()}
    if member.memory_bytes:
        limits["memory"] = str(member.memory_bytes)
    return {"requests": requests | limits, "limits": limits}


def _volumes(gang: Gang, member: Member) -> list[dict[str, Any]]:
    memory: dict[str, Any] = {"medium": "Memory"}
    if member.memory_bytes:
        # It counts against the container's memory: half of it leaves room for the program.
        memory["sizeLimit"] = str(member.memory_bytes // 2)
    claims = dict.fromkeys(volume["claim"] for volume in member.spec.get("volumes") or [])
    return [
        {"name": "shared-memory", "emptyDir": memory},
        {"name": "gang", "configMap": {"name": gang.name}},
        *(
            {"name": f"claim-{number}", "persistentVolumeClaim": {"claimName": claim}}
            for number, claim in enumerate(claims)
        ),
    ]


def _mounts(member: Member) -> list[dict[str, Any]]:
    volumes = member.spec.get("volumes") or []
    numbers = {claim: number for number, claim in enumerate(dict.fromkeys(volume["claim"] for volume in volumes))}
    return [
        {"name": "shared-memory", "mountPath": SHARED_MEMORY},
        {"name": "gang", "mountPath": HOSTFILE_FOLDER, "readOnly": True},
        *(
            {
                "name": f"claim-{numbers[volume['claim']]}",
                "mountPath": volume["path"],
                "readOnly": bool(volume.get("read_only", False)),
            }
            for volume in volumes
        ),
    ]


def _text(value: object) -> str:
    """A value of a job file as Kubernetes takes it: YAML's yes and no come as booleans."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
