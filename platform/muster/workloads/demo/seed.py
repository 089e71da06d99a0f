"""The demo's rows. Every step looks first: running it again changes nothing that people have changed since."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db import transaction

from muster.accounts.actions import create_token, revoke_token, save_user, set_member
from muster.accounts.choices import Role
from muster.accounts.models import ApiToken, Membership, Tenant, User
from muster.clusters.actions import save_cluster, save_flavor, save_pool
from muster.clusters.choices import Binding, Connection
from muster.clusters.models import Cluster, Flavor, NodePool
from muster.quotas.actions import save_priority_class, save_queue, save_tenant, set_quotas
from muster.quotas.models import PriorityClass, Queue, Quota
from muster.workloads.demo.layout import (
    ADMIN,
    DEFAULT_PRIORITY,
    PRICES,
    PRIORITIES,
    RESOURCES,
    TENANTS,
    DemoTenant,
)
from scheduler.model.catalogue import GPU_MODELS

LOCAL_TOKEN = "muster on this machine"


@transaction.atomic
def seed(data_dir: Path, kubeconfig: Path | None) -> None:
    """Flavors, priority classes, the cluster, people, tenants, queues and quotas; passwords and the local token as files."""
    seed_flavors()
    for name, value in PRIORITIES.items():
        if not PriorityClass.objects.filter(name=name).exists():
            save_priority_class(None, PriorityClass(name=name, value=value, is_default=name == DEFAULT_PRIORITY))
    cluster = seed_cluster(kubeconfig, is_emulated=kubeconfig == data_dir / "emulator" / "kubeconfig")
    people = seed_people(data_dir / "demo_users.json")
    for tenant in TENANTS:
        _seed_tenant(tenant, people[tenant.member], cluster)
    seed_local_token(data_dir / "cli.json", people[ADMIN])


def seed_flavors() -> None:
    """A flavor for every GPU model of the catalogue."""
    known = set(Flavor.objects.values_list("name", flat=True))
    for model in GPU_MODELS.values():
        if model.name not in known:
            save_flavor(
                None,
                Flavor(
                    name=model.name,
                    vendor=model.vendor,
                    memory_bytes=model.memory,
                    memory_bandwidth_gbs=model.memory_bandwidth or None,
                    compute_capability=model.compute_capability or None,
                    tensor_cores=model.tensor_cores or None,
                    precisions=list(model.precisions),
                    resource=RESOURCES[model.vendor],
                    price_per_hour=PRICES.get(model.name),
                ),
            )


def seed_cluster(kubeconfig: Path | None, *, is_emulated: bool) -> Cluster | None:
    """The one cluster that a kubeconfig names. The emulator obeys the scheduler's choice of devices; a real kubelet may not."""
    if kubeconfig is None:
        return None
    name = "demo" if is_emulated else "default"
    cluster = Cluster.objects.filter(name=name).first() or Cluster(name=name)
    if cluster.pk is None or cluster.kubeconfig_path != str(kubeconfig):
        cluster.connection, cluster.kubeconfig_path = Connection.FILE, str(kubeconfig)
        save_cluster(None, cluster)
    if not cluster.pools.exists():
        save_pool(None, NodePool(cluster=cluster, name="all", binding=Binding.EXACT if is_emulated else Binding.COUNT))
    return cluster


def seed_people(path: Path) -> dict[str, User]:
    """An administrator and a member of each tenant. `path` lists them with their passwords, which are made anew when it is lost."""
    written = {row["username"]: row for row in json.loads(path.read_text())} if path.exists() else {}
    people, rows = {}, []
    for name, role in _people():
        user = User.objects.filter(username=name).first() or User(username=name, is_staff=name == ADMIN)
        password = written.get(name, {}).get("password") or secrets.token_urlsafe(9)
        if user.pk is None or name not in written:
            user.set_password(password)
            save_user(None, user)
        people[name] = user
        rows.append({"username": name, "password": password, "role": role})
    _write_private(path, rows)
    return people


def _people() -> Iterator[tuple[str, str]]:
    yield ADMIN, "platform admin"
    for tenant in TENANTS:
        yield tenant.member, f"member of {tenant.name}"


def _seed_tenant(planned: DemoTenant, member: User, cluster: Cluster | None) -> None:
    tenant = Tenant.objects.filter(name=planned.name).first()
    if tenant is None:
        tenant = save_tenant(None, Tenant(name=planned.name, title=planned.title, namespace=planned.name))
    if not Membership.objects.filter(user=member, tenant=tenant).exists():
        set_member(None, tenant, member, Role.MEMBER)
    top = Queue.objects.get(tenant=tenant, parent=None)
    guaranteed = sum(queue.guaranteed for queue in planned.queues)
    quotas = [Quota(queue=top, guaranteed=guaranteed, limit=planned.limit)]
    for leaf in planned.queues:
        queue = Queue.objects.filter(tenant=tenant, name=leaf.name).first()
        queue = queue or save_queue(None, Queue(tenant=tenant, name=leaf.name, parent=top))
        quotas.append(Quota(queue=queue, guaranteed=leaf.guaranteed, limit=leaf.limit))
    if cluster and not Quota.objects.filter(cluster=cluster, queue__tenant=tenant).exists():
        set_quotas(None, cluster, quotas)


def seed_local_token(path: Path, user: User) -> None:
    """The token with which `muster submit` on this machine is signed in; made anew when its file or its row is lost."""
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    mine = ApiToken.objects.filter(user=user, name=LOCAL_TOKEN)
    if kept and mine.filter(token_key=kept["token"][:15]).exists():
        return
    for lost in mine.values_list("token_key", flat=True):
        revoke_token(user, lost)
    _, secret = create_token(user, LOCAL_TOKEN)
    _write_private(path, {"token": secret})


def _write_private(path: Path, content: Any) -> None:
    """Whole or not at all, and never readable by others, not even between two system calls."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(content, file, indent=1)
    fresh.replace(path)
