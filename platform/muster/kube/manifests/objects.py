"""The objects of an attempt beside its pods: the headless Service that owns them all, the ConfigMap, the tenant's namespace."""

from __future__ import annotations

from typing import Any

from muster.kube.manifests.environment import hostfile
from muster.kube.manifests.gang import Gang
from muster.kube.manifests.names import ATTEMPT_LABEL, JOB_LABEL, TENANT_LABEL

MANAGED_BY = {"app.kubernetes.io/managed-by": "muster"}


def labels(gang: Gang) -> dict[str, str]:
    """What every object of an attempt carries."""
    return {
        **MANAGED_BY,
        ATTEMPT_LABEL: str(gang.attempt_id),
        JOB_LABEL: str(gang.job_id),
        TENANT_LABEL: gang.tenant,
    }


def service(gang: Gang) -> dict[str, Any]:
    """The headless Service that gives pods their names, before they are ready too. Its deletion takes everything else along."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": gang.name, "namespace": gang.namespace, "labels": labels(gang)},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {ATTEMPT_LABEL: str(gang.attempt_id)},
        },
    }


def owner(created: dict[str, Any]) -> list[dict[str, Any]]:
    """The ownerReferences that let a created Service take its dependents along."""
    meta = created["metadata"]
    return [{"apiVersion": "v1", "kind": "Service", "name": meta["name"], "uid": meta["uid"]}]


def config_map(gang: Gang, owners: list[dict[str, Any]]) -> dict[str, Any]:
    """Files that all members mount: the MPI hostfile."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": gang.name,
            "namespace": gang.namespace,
            "labels": labels(gang),
            "ownerReferences": owners,
        },
        "data": {"hostfile": hostfile(gang)},
    }


def namespace(gang: Gang) -> dict[str, Any]:
    """A tenant's namespace, made when it is missing."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": gang.namespace, "labels": {**MANAGED_BY, TENANT_LABEL: gang.tenant}},
    }
