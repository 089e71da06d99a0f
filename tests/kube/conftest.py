"""The Kubernetes layer against an emulated cluster over real HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from muster.clusters.models import Cluster, Node
from muster.emulator import EmulatorServer, running_emulator
from muster.emulator.kubeconfig import write_kubeconfig
from muster.kube.executor.drain import crews_of
from muster.kube.gateway import Gateway
from muster.kube.informer.informer import Periods
from muster.kube.informer.leader import Leader
from muster.kube.informer.reflector import Timing
from tests.support.builders import World, make_cluster, make_world
from tests.support.kubernetes import Faults, eventually


@pytest.fixture
def emulator() -> Iterator[EmulatorServer]:
    """Four nodes of eight GPUs each, in one rack."""
    with running_emulator(nodes=4, bookmark_seconds=0.5) as server:
        yield server


@pytest.fixture
def faults(emulator: EmulatorServer) -> Faults:
    """What goes wrong in it, on order."""
    return Faults(emulator.url)


@pytest.fixture
def kubeconfig(emulator: EmulatorServer, tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, emulator.url, None)
    return path


@pytest.fixture
def cluster(db: None, kubeconfig: Path) -> Cluster:
    """The row that leads to the emulator."""
    return make_cluster("demo", kubeconfig_path=str(kubeconfig))


@pytest.fixture
def gateway(kubeconfig: Path) -> Iterator[Gateway]:
    """Needs no database."""
    gateway = Gateway.of(Cluster(name="demo", kubeconfig_path=str(kubeconfig)))
    yield gateway
    gateway.close()


QUICK = Timing(watch_seconds=(20, 30), read_seconds=2.0, first_wait=0.02, most_wait=0.5)


@pytest.fixture
def world(transactional_db: None, kubeconfig: Path) -> Iterator[World]:
    """A tenant in a cluster that an informer follows; its nodes are known when this returns."""
    cluster = make_cluster("demo", kubeconfig_path=str(kubeconfig))
    made = make_world()
    leader = Leader(cluster.pk, timing=QUICK, periods=Periods(tick=0.05, reconcile=0.5))
    leader.start()
    eventually(lambda: Node.objects.filter(cluster=cluster, gpus__isnull=False).distinct().count() == 4)
    yield made
    leader.stop()
    leader.join(10)
    for crew in crews_of(cluster.pk):
        assert crew.wait(10)
    crews_of.cache_clear()


@pytest.fixture
def nodes(world: World) -> list[Node]:
    """The cluster's nodes, by name."""
    return list(Node.objects.filter(cluster=world.cluster).order_by("name"))
