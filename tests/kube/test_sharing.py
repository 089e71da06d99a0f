"""Parts of GPUs on the emulated cluster, in both device modes: what the executor does is what the kubelet gives."""

import pytest

from muster.clusters.choices import Binding
from muster.clusters.models import Gpu, Node, NodePool
from muster.kube.gateway import Gateway
from muster.kube.resources import NODES
from muster.placements.choices import HoldKind
from muster.placements.models import DeviceHold, Placement
from muster.workloads.choices import JobState
from muster.workloads.models import Job
from tests.kube.test_executor import reaches
from tests.support.builders import World
from tests.support.kubernetes import Faults, eventually
from tests.support.placing import start


def pool(world: World, **columns: str) -> None:
    NodePool.objects.filter(cluster=world.cluster).update(**columns)


def give(placement: Placement, gpu: Gpu, **columns: object) -> None:
    """Let the placement's one worker hold this part of this GPU."""
    DeviceHold.objects.filter(worker__attempt=placement.attempt).delete()
    worker = placement.workers.get()
    DeviceHold.objects.create(gpu=gpu, worker=worker, since=placement.created_at, **columns)


def offer(gateway: Gateway, node: Node, resource: str, count: int) -> None:
    """As a device plugin does that shares or cuts GPUs; from here on the kubelet chooses."""
    gateway.merge_patch(NODES, "", node.name, {"metadata": {"annotations": {"emulator.muster.dev/binding": "count"}}})
    body = {"status": {"allocatable": {resource: str(count)}, "capacity": {resource: str(count)}}}
    gateway.merge_patch(NODES, "", f"{node.name}/status", body)


def run(world: World, nodes: list[Node], **hold: object) -> Job:
    placement = start(world, nodes[:1], workers=1, gpus=0)
    give(placement, nodes[0].gpus.get(index=5), **hold)
    return reaches(placement, JobState.RUNNING)


@pytest.mark.parametrize(
    "hold",
    [
        {"kind": HoldKind.SHARE, "milli": 400},
        {"kind": HoldKind.MIG, "profile": "3g.40gb", "slices": (4, 8)},
        {"kind": HoldKind.SLICE, "milli": 250},
    ],
    ids=["share", "mig", "slice"],
)
def test_exact_pools_give_the_very_part(
    world: World, nodes: list[Node], faults: Faults, hold: dict[str, object]
) -> None:
    run(world, nodes, **hold)
    (held,) = faults.devices()["node-00000"][5]["holders"]
    assert held["kind"] == hold["kind"]
    assert held["milli"] == hold.get("milli", 1000)
    assert (held["mig"], held["start"]) == ((hold["profile"], 4) if "profile" in hold else (None, None))


def test_two_shares_meet_on_one_gpu(world: World, nodes: list[Node], faults: Faults) -> None:
    for milli in (400, 600):
        run(world, nodes, kind=HoldKind.SHARE, milli=milli)
    assert [held["milli"] for held in faults.devices()["node-00000"][5]["holders"]] == [400, 600]


def test_count_pools_let_the_kubelet_choose_and_believe_what_is_seen(
    world: World, nodes: list[Node], gateway: Gateway
) -> None:
    pool(world, binding=Binding.COUNT)
    body = {"metadata": {"annotations": {"emulator.muster.dev/binding": "count"}}}
    gateway.merge_patch(NODES, "", nodes[0].name, body)
    run(world, nodes, kind=HoldKind.WHOLE)
    # Planned on 5; the kubelet gave the lowest.
    eventually(lambda: DeviceHold.objects.get().gpu.index == 0)
    assert DeviceHold.objects.get().is_observed


@pytest.mark.parametrize(
    ("sharing", "resource", "hold"),
    [
        ("mps", "nvidia.com/gpu.shared", {"kind": HoldKind.SHARE, "milli": 500}),
        ("time-slicing", "nvidia.com/gpu.shared", {"kind": HoldKind.SLICE, "milli": 250}),
        ("mig", "nvidia.com/mig-3g.40gb", {"kind": HoldKind.MIG, "profile": "3g.40gb", "slices": (4, 8)}),
    ],
)
def test_count_pools_share_by_what_their_plugin_offers(
    world: World, nodes: list[Node], gateway: Gateway, sharing: str, resource: str, hold: dict[str, object]
) -> None:
    pool(world, binding=Binding.COUNT, sharing=sharing)
    offer(gateway, nodes[0], resource, 2)
    run(world, nodes, **hold)


def test_a_count_pool_without_a_mechanism_refuses(world: World, nodes: list[Node]) -> None:
    pool(world, binding=Binding.COUNT)
    placement = start(world, nodes[:1], workers=1, gpus=0)
    give(placement, nodes[0].gpus.get(index=5), kind=HoldKind.SHARE, milli=500)
    job = reaches(placement, JobState.QUEUED)
    assert "names no mechanism" in job.state_message
