"""Writes to what administrators decide about clusters. What is observed of them is written by clusters.observe."""

from __future__ import annotations

from typing import Any

import yaml
from django.db import transaction

from muster.accounts.standing import standing_of
from muster.audit import actions as audit
from muster.clusters.choices import Connection
from muster.clusters.discovery import checked_topology
from muster.clusters.levels import checked_label, checked_levels
from muster.clusters.models import Cluster, Flavor, NodePool
from muster.clusters.profiles import policy_of
from muster.common.choices import ChangeKind, EventKind
from muster.common.errors import Forbidden, Invalid
from muster.common.events import OVERVIEW, record_change, record_event
from muster.common.secrets import seal
from muster.common.validation import validate


def must_administer(actor: Any) -> None:
    """Raise Forbidden unless `actor` is a platform admin; None is the platform itself."""
    if actor is not None and not standing_of(actor).is_platform_admin:
        raise Forbidden("Only a platform admin may do this.")


@transaction.atomic
def save_cluster(actor: Any, cluster: Cluster, *, kubeconfig: str = "") -> Cluster:
    """Store a new or changed cluster; `kubeconfig`, where given, is sealed and replaces the stored one."""
    must_administer(actor)
    created = cluster.pk is None
    if kubeconfig:
        cluster.kubeconfig_sealed = seal(_checked(kubeconfig))
        cluster.connection = Connection.INLINE
    if cluster.connection == Connection.INLINE and not cluster.kubeconfig_sealed:
        raise Invalid("Paste the kubeconfig.", fields={"kubeconfig": ["A stored connection needs a kubeconfig."]})
    validate(cluster, exclude=["epoch"])
    checked_levels(cluster.levels)
    policy_of(cluster.profile)
    if cluster.nvlink_label:
        checked_label(cluster.nvlink_label, field="nvlink_label")
    if created:
        cluster.save()
    else:
        # Not `epoch`: commits alone write it, and one may have since this row was read.
        cluster.save(update_fields=[*EDITABLE, "kubeconfig_sealed"])
    _tell(actor, "cluster.create" if created else "cluster.update", cluster, cluster.pk)
    return cluster


EDITABLE = (
    "name", "title", "connection", "kubeconfig_path", "levels", "nvlink_label", "profile", "scheduler_name",
    "enabled",
)  # fmt: skip


def _checked(text: str) -> str:
    """The kubeconfig, if it could be one. It may run programs to get its token: those never come from a web form."""
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        found = None
    if not isinstance(found, dict) or not found.get("clusters") or not found.get("users"):
        raise Invalid("This is not a kubeconfig.", fields={"kubeconfig": ["It names no clusters and users."]})
    for user in found["users"]:
        if {"exec", "auth-provider"} & set((user or {}).get("user") or {}):
            message = "It runs a program to sign in. Use a token or a certificate, or a kubeconfig file on the server."
            raise Invalid(message, fields={"kubeconfig": [message]})
    return text


@transaction.atomic
def save_pool(actor: Any, pool: NodePool) -> NodePool:
    """Store a new or changed node pool."""
    must_administer(actor)
    created = pool.pk is None
    validate(pool)
    if pool.topology:
        checked_topology(pool.topology)
    pool.save()
    _tell(actor, "pool.create" if created else "pool.update", pool, pool.cluster_id)
    return pool


@transaction.atomic
def delete_pool(actor: Any, pool: NodePool) -> None:
    """Delete a node pool; its nodes fall to the next one that matches."""
    must_administer(actor)
    _tell(actor, "pool.delete", pool, pool.cluster_id)
    pool.delete()


@transaction.atomic
def save_flavor(actor: Any, flavor: Flavor) -> Flavor:
    """Store a new or changed GPU model; every cluster's scheduler reads it."""
    must_administer(actor)
    created = flavor.pk is None
    validate(flavor)
    flavor.save()
    audit.record(actor, "flavor.create" if created else "flavor.update", flavor, name=flavor.name)
    for cluster_id in Cluster.objects.values_list("pk", flat=True):
        record_change(cluster_id, ChangeKind.CLUSTER, cluster_id)
    return flavor


def _tell(actor: Any, verb: str, target: Cluster | NodePool, cluster_id: int) -> None:
    audit.record(actor, verb, target, name=target.name)
    record_change(cluster_id, ChangeKind.CLUSTER, cluster_id)
    record_event(OVERVIEW, EventKind.CLUSTER, cluster_id)
