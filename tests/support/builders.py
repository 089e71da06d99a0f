"""Rows for tests: each builder makes one thing with defaults that work, and every field can be named.

world = make_world()                      # a cluster, a tenant `vision` with queue `train`, its member and admin
job = submit(world.member, gpus=2, workers=4)
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from muster.accounts.choices import Role
from muster.accounts.models import Membership, Tenant, User
from muster.clusters.choices import Binding
from muster.clusters.models import Cluster, Flavor, Gpu, HardwareShape, Node, NodePool
from muster.clusters.wiring import digest_of, gpu_model, wiring_of
from muster.quotas.models import PriorityClass, Queue, Quota
from muster.workloads.actions import submit_job
from muster.workloads.models import Job
from scheduler.model.hardware import NodeShape, joined_groups

GIB = 2**30
NUMBERS = itertools.count(1)


def make_user(name: str = "", *, is_staff: bool = False, **fields: Any) -> User:
    """A person who may sign in with the password `secret`."""
    name = name or f"user{next(NUMBERS)}"
    user = User(username=name, is_staff=is_staff, is_superuser=is_staff, **fields)
    # The real hasher is slow on purpose; few tests sign in.
    user.password = "unusable"
    user.save()
    return user


def make_tenant(name: str = "", *, queues: tuple[str, ...] = ("train",), **fields: Any) -> Tenant:
    """A tenant with its top queue, named after it, and these leaf queues below."""
    name = name or f"tenant{next(NUMBERS)}"
    tenant = Tenant.objects.create(name=name, namespace=fields.pop("namespace", name), **fields)
    top = Queue.objects.create(tenant=tenant, name=name)
    for queue in queues:
        Queue.objects.create(tenant=tenant, name=queue, parent=top)
    return tenant


def make_member(tenant: Tenant, role: Role = Role.MEMBER, *, name: str = "") -> User:
    """A new user with this role in the tenant."""
    user = make_user(name)
    Membership.objects.create(user=user, tenant=tenant, role=role)
    return user


def make_cluster(name: str = "", **fields: Any) -> Cluster:
    """A cluster with one pool whose devices the scheduler chooses."""
    cluster = Cluster.objects.create(name=name or f"cluster{next(NUMBERS)}", **fields)
    NodePool.objects.create(cluster=cluster, name="all", binding=Binding.EXACT)
    return cluster


def make_flavor(name: str = "H100-80GB", **fields: Any) -> Flavor:
    """A GPU model; the same name gives the same row."""
    defaults = {"memory_bytes": 80 * GIB, "compute_capability": 90, "tensor_cores": 4} | fields
    return Flavor.objects.get_or_create(name=name, defaults=defaults)[0]


def make_hardware(gpus: int, flavor: Flavor) -> HardwareShape:
    """GPUs that are all joined by NVLink, in two NUMA nodes with a PCIe switch each."""
    half = tuple(int(index >= gpus // 2) for index in range(gpus))
    wiring = wiring_of(
        NodeShape(
            name=f"test-{gpus}",
            model=gpu_model(flavor) if gpus else None,
            links=joined_groups(gpus, [range(gpus)]),
            numa=half,
            switch=half,
        )
    )
    defaults = {"name": f"test-{gpus}", "source": "labels", "wiring": wiring}
    return HardwareShape.objects.get_or_create(digest=digest_of(wiring), defaults=defaults)[0]


def make_node(cluster: Cluster, name: str = "", *, gpus: int = 8, flavor: Flavor | None = None, **fields: Any) -> Node:
    """A ready node of 112 cores and 2 TiB with this many healthy GPUs."""
    model = flavor or make_flavor()
    shape = make_hardware(gpus, model)
    name = name or f"n{next(NUMBERS)}"
    defaults = {"ready": True, "shape": shape, "cpu_milli": 112_000, "memory_bytes": 2048 * GIB, "uid": f"uid-{name}"}
    node = Node.objects.create(cluster=cluster, pool=cluster.pools.first(), name=name, **(defaults | fields))
    if gpus:
        Gpu.objects.bulk_create(
            Gpu(node=node, index=index, flavor=model, uuid=f"GPU-{name}-{index}") for index in range(gpus)
        )
    return node


def make_quota(queue: Queue, cluster: Cluster, **fields: Any) -> Quota:
    """A GPU quota."""
    return Quota.objects.create(queue=queue, cluster=cluster, **fields)


def make_priorities() -> None:
    """high 80, normal 50 (the default), low 20."""
    for name, value in (("high", 80), ("normal", 50), ("low", 20)):
        PriorityClass.objects.create(name=name, value=value, is_default=name == "normal")


@dataclass(frozen=True)
class World:
    """One cluster and one tenant with a person in every role."""

    cluster: Cluster
    tenant: Tenant
    queue: Queue
    admin: User
    tenant_admin: User
    member: User
    viewer: User


def make_world(name: str = "vision", *, nodes: int = 0) -> World:
    """A cluster, and a tenant with queue `train` and a person in every role. Call it again for a second tenant."""
    cluster = Cluster.objects.first() or make_cluster("demo")
    for _ in range(nodes):
        make_node(cluster)
    tenant = make_tenant(name)
    return World(
        cluster=cluster,
        tenant=tenant,
        queue=Queue.objects.get(tenant=tenant, name="train"),
        admin=User.objects.filter(is_staff=True).first() or make_user("root", is_staff=True),
        tenant_admin=make_member(tenant, Role.ADMIN, name=f"{name}-admin"),
        member=make_member(tenant, name=f"{name}-member"),
        viewer=make_member(tenant, Role.VIEWER, name=f"{name}-viewer"),
    )


def job_file(**keys: Any) -> dict[str, Any]:
    """The values of a small job file: one worker, one core, 1 GiB, no GPU."""
    return {"name": "job", "queue": "train", "image": "demo/train", "cpus": 1, "memory": "1Gi"} | keys


def submit(user: User, **keys: Any) -> Job:
    """Submit `job_file(**keys)` as this user."""
    return submit_job(user, job_file(**keys))
