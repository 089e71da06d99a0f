"""The informer: rows follow the cluster, only what matters raises a revision, and drift is repaired and counted."""

import threading

import pytest
from django.db import connection

from muster.clusters import observe
from muster.clusters.choices import Health
from muster.clusters.discovery import reading_of
from muster.clusters.models import Cluster, ClusterStatus, Gpu, Node
from muster.common.choices import ChangeKind
from muster.common.models import Change
from muster.kube.executor.drain import drain
from muster.kube.gateway import Gateway
from muster.kube.informer.leader import LOCK_CLASS, Leader
from muster.kube.informer.nodes import node_seen
from muster.kube.manifests.names import ATTEMPT_LABEL, WORKER_LABEL
from muster.kube.resources import NODES, PODS, SERVICES
from muster.placements.models import Orphan, Placement
from muster.workloads.choices import JobState
from muster.workloads.models import Worker
from tests.kube.conftest import QUICK
from tests.kube.test_executor import objects_of, reaches
from tests.support.builders import World, make_cluster
from tests.support.kubernetes import Faults, eventually, pod
from tests.support.placing import start


def test_nodes_come_with_their_wiring(world: World, nodes: list[Node]) -> None:
    node = nodes[0]
    assert (node.ready, node.present, node.cordoned) == (True, True, False)
    assert node.domains == {"block": "b0", "rack": "r0"}
    assert node.pool == world.cluster.pools.get()
    assert node.shape.wiring["model"] == "H100-80GB"
    assert node.shape.source == "annotation"
    gpus = list(node.gpus.select_related("flavor"))
    assert [gpu.numa for gpu in gpus] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert {gpu.flavor.name for gpu in gpus} == {"H100-80GB"}
    assert node.nics.filter(is_rdma=True).count() == 8


def test_heartbeats_change_nothing(cluster: Cluster, gateway: Gateway) -> None:
    seen = gateway.get(NODES, "", "node-00000")
    assert observe.observe_nodes(cluster, [node_seen(seen, reading_of(cluster))])
    before = (Node.objects.get().sched_rev, Change.objects.count())
    for condition in seen["status"]["conditions"]:
        condition["lastHeartbeatTime"] = "2030-01-01T00:00:00Z"
    assert observe.observe_nodes(cluster, [node_seen(seen, reading_of(cluster))]) == set()
    assert (Node.objects.get().sched_rev, Change.objects.count()) == before


@pytest.mark.parametrize(
    ("change", "column"),
    [
        (lambda node: node["spec"].update(unschedulable=True), "cordoned"),
        (lambda node: node["metadata"]["labels"].update(disk="fast"), "labels"),
        (lambda node: node["spec"].update(taints=[{"key": "a", "effect": "NoSchedule"}]), "taints"),
        (lambda node: node["status"]["allocatable"].update(cpu="3500m"), "cpu_milli"),
        (lambda node: node["metadata"]["labels"].update({"topology.muster.dev/rack": "r9"}), "domains"),
    ],
)
def test_what_load_reads_raises_the_revision(cluster: Cluster, gateway: Gateway, change, column: str) -> None:
    seen = gateway.get(NODES, "", "node-00000")
    observe.observe_nodes(cluster, [node_seen(seen, reading_of(cluster))])
    before = Node.objects.get()
    change(seen)
    assert observe.observe_nodes(cluster, [node_seen(seen, reading_of(cluster))]) == {before.pk}
    after = Node.objects.get()
    assert getattr(after, column) != getattr(before, column)
    assert after.sched_rev == before.sched_rev + 1
    assert Change.objects.filter(kind=ChangeKind.NODE, object_id=before.pk).count() == 2


def test_a_sick_gpu_is_seen(world: World, nodes: list[Node], faults: Faults) -> None:
    faults.node("node-00002", "gpus/3", healthy=False, xid=79)
    eventually(lambda: Gpu.objects.get(node=nodes[2], index=3).health == Health.UNHEALTHY)
    faults.node("node-00002", "gpus/3", healthy=True)
    eventually(lambda: Gpu.objects.get(node=nodes[2], index=3).health == Health.OK)


def test_pods_of_others_take_room(world: World, nodes: list[Node], gateway: Gateway) -> None:
    """Whoever scheduled them; and where nobody says which GPUs they got, the highest free ones are booked."""
    body = pod("theirs", node=nodes[1].name)
    body["spec"]["containers"][0]["resources"]["requests"] |= {"memory": "1Gi", "nvidia.com/gpu": "2"}
    body["spec"]["containers"][0]["resources"]["limits"] = {"nvidia.com/gpu": "2"}
    gateway.create(PODS, "default", body)

    def seen() -> bool:
        nodes[1].refresh_from_db()
        taken = list(Gpu.objects.filter(node=nodes[1], others_pod="default/theirs").values_list("index", flat=True))
        told = (nodes[1].others_cpu_milli, nodes[1].others_memory_bytes, nodes[1].others_pods)
        return told == (2000, 2**30, 1) and taken == [0, 1]

    eventually(seen)
    gateway.delete(PODS, "default", "theirs", grace_seconds=0)
    eventually(lambda: not Gpu.objects.exclude(others_pod="").exists())


def test_a_node_that_leaves_stays_as_a_row(world: World, nodes: list[Node], gateway: Gateway) -> None:
    gateway.delete(NODES, "", "node-00003")
    eventually(lambda: not Node.objects.get(name="node-00003").present)


def test_a_pod_that_somebody_deleted_is_a_fault(world: World, nodes: list[Node], gateway: Gateway) -> None:
    placement = start(world, nodes, workers=2, gpus=1)
    job = reaches(placement, JobState.RUNNING)
    name = next(name for name in objects_of(gateway, placement.attempt_id) if name.endswith("worker-1"))
    gateway.delete(PODS, world.tenant.namespace, name, grace_seconds=0)
    reaches(placement, JobState.QUEUED)
    assert job.own_faults == 0


def test_objects_without_an_attempt_are_deleted_and_counted(world: World, gateway: Gateway) -> None:
    """Left by a database that was restored, or by hand."""
    lost = pod("lost", node="node-00000")
    lost["metadata"]["labels"] = {ATTEMPT_LABEL: "987654", WORKER_LABEL: "987654"}
    gateway.create(PODS, "default", lost)
    eventually(Orphan.objects.exists)
    eventually(lambda: ClusterStatus.objects.filter(repairs=1).exists())
    eventually(lambda: drain(world.cluster.pk) or not objects_of(gateway, 987654))
    eventually(lambda: ClusterStatus.objects.get().drift == 0)


def test_a_pod_lost_while_nobody_watched_is_found(
    world: World, nodes: list[Node], gateway: Gateway, faults: Faults
) -> None:
    placement = start(world, nodes, workers=1, gpus=1)
    reaches(placement, JobState.RUNNING)
    worker = Worker.objects.get()
    # As after a crash: the row knows a pod that no list and no watch will ever mention.
    Placement.objects.update(finished_at="2000-01-01T00:00:00Z")
    Worker.objects.filter(pk=worker.pk).update(pod_uid="never-seen-again")
    reaches(placement, JobState.QUEUED)
    eventually(lambda: ClusterStatus.objects.filter(repairs__gte=1).exists())


def test_an_unreachable_cluster_is_told_in_the_clients_words(world: World, faults: Faults) -> None:
    eventually(lambda: ClusterStatus.objects.filter(is_reachable=True).exists())
    faults.add(code=403, times=None)
    faults.watches("end", "nodes")
    eventually(lambda: ClusterStatus.objects.get().is_reachable is False)
    status = ClusterStatus.objects.get()
    assert "denied" in status.message
    faults.clear()
    eventually(lambda: ClusterStatus.objects.get().is_reachable, seconds=15)
    assert ClusterStatus.objects.get().since > status.since


def test_a_kubeconfig_that_does_not_work(transactional_db: None) -> None:
    cluster = make_cluster("broken", kubeconfig_path="no/such/file")
    leader = Leader(cluster.pk, timing=QUICK)
    leader.start()
    eventually(lambda: ClusterStatus.objects.filter(is_reachable=False, message__contains="broken").exists())
    leader.stop()
    leader.join(10)


def test_one_leads_and_the_other_stands_by(world: World) -> None:
    other = Leader(world.cluster.pk, timing=QUICK)
    other.start()
    other.join(0.5)
    assert other.informer is None
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND granted",
            [LOCK_CLASS],
        )
    leaders = eventually(lambda: other.informer is not None or _first_again(world))
    assert leaders
    other.stop()
    other.join(10)


def _first_again(world: World) -> bool:
    """Whether the leader that lost its connection was elected anew before the other looked."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = %s", [LOCK_CLASS])
        return cursor.fetchone()[0] == 1 and threading.active_count() > 1


def test_a_service_alone_goes_too(world: World, gateway: Gateway) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "old", "namespace": "default", "labels": {ATTEMPT_LABEL: "424242"}},
        "spec": {"clusterIP": "None"},
    }
    gateway.create(SERVICES, "default", body)
    eventually(lambda: drain(world.cluster.pk) or not objects_of(gateway, 424242))
