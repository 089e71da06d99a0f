"""ResourceSlices: the first evidence of a node's hardware, where the API server has them."""

from collections.abc import Sequence
from typing import Any

import pytest

from muster.clusters.choices import Health
from muster.clusters.models import ClusterStatus, Gpu, Node
from muster.common.models import Change
from muster.kube.gateway import Gateway
from muster.kube.informer.slices import Slices, served_slices
from muster.kube.resources import SLICES
from tests.support.builders import World
from tests.support.kubernetes import Faults, eventually

H100 = "NVIDIA H100 80GB HBM3"


def device(number: int, uuid: str, *, tainted: bool = False) -> dict[str, Any]:
    attributes = {
        "type": {"string": "gpu"},
        "uuid": {"string": uuid},
        "productName": {"string": H100},
        "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{number // 2}"},
    }
    taints = [{"key": "gpu.nvidia.com/xid", "effect": "NoExecute"}] if tainted else []
    return {
        "name": f"gpu-{number}",
        "attributes": attributes,
        "capacity": {"memory": {"value": "81559Mi"}},
        "taints": taints,
    }


def resource_slice(
    devices: Sequence[dict[str, Any]], *, node: str, name: str, generation: int = 1, count: int = 1
) -> dict[str, Any]:
    spec = {
        "driver": "gpu.nvidia.com",
        "nodeName": node,
        "pool": {"name": node, "generation": generation, "resourceSliceCount": count},
        "devices": list(devices),
    }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": spec,
    }


def uuids(node: Node) -> list[str]:
    return list(Gpu.objects.filter(node=node).order_by("index").values_list("uuid", flat=True))


def switches(node: Node) -> list[int | None]:
    return list(Gpu.objects.filter(node=node, health=Health.OK).order_by("index").values_list("switch", flat=True))


def test_slices_are_read_first_and_again_when_they_change(world: World, nodes: list[Node], gateway: Gateway) -> None:
    node = nodes[0]
    assert node.shape is not None
    before, links = uuids(node), node.shape.wiring["links"]
    halves = [[device(n, before[n]) for n in half] for half in (range(4), range(4, 8))]
    gateway.create(SLICES, "", resource_slice(halves[0], node=node.name, name="first", count=2))
    gateway.create(SLICES, "", resource_slice(halves[1], node=node.name, name="second", count=2))
    eventually(lambda: switches(node) == [0, 0, 1, 1, 2, 2, 3, 3])
    assert Gpu.objects.filter(node=node).count() == 8
    node = Node.objects.select_related("shape").get(pk=node.pk)
    assert node.shape is not None
    assert node.shape.wiring["links"] == links, "what slices do not tell comes from the annotation"
    halves[1][3] = device(7, before[7], tainted=True)
    changed = {"spec": resource_slice(halves[1], node=node.name, name="second", count=2)["spec"]}
    gateway.merge_patch(SLICES, "", "second", changed)
    sick = eventually(lambda: Gpu.objects.filter(node=node, health=Health.UNHEALTHY).first())
    assert (sick.index, sick.health_reason) == (7, "tainted by its driver: gpu.nvidia.com/xid")
    gateway.delete(SLICES, "", "first")
    gateway.delete(SLICES, "", "second")
    eventually(lambda: not Gpu.objects.filter(node=node).exclude(health=Health.OK).exists())


def test_half_a_pool_says_nothing(world: World, nodes: list[Node], gateway: Gateway) -> None:
    changes = Change.objects.count()
    one = [device(0, "GPU-other")]
    gateway.create(SLICES, "", resource_slice(one, node=nodes[1].name, name="half", count=2))
    gateway.create(SLICES, "", resource_slice(one, node=nodes[2].name, name="whole"))
    eventually(lambda: "GPU-other" in uuids(nodes[2]))
    assert "GPU-other" not in uuids(nodes[1])
    assert Change.objects.count() == changes + 1


@pytest.fixture
def without_group(faults: Faults) -> Faults:
    faults.add(code=404, times=None, path="^/apis/resource.k8s.io$")
    faults.add(code=500, times=None, path="resourceslices")
    return faults


def test_a_server_without_the_group_is_asked_for_nothing_else(
    without_group: Faults, world: World, gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    eventually(lambda: ClusterStatus.objects.filter(is_reachable=True).exists())
    assert served_slices(gateway) is None
    assert without_group.rules()[1]["hits"] == 0
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


@pytest.fixture
def without_right(faults: Faults) -> None:
    faults.add(code=403, times=None, path="resourceslices")


def test_slices_that_may_not_be_read_leave_the_cluster_reachable(without_right: None, world: World) -> None:
    eventually(lambda: ClusterStatus.objects.filter(is_reachable=True).exists())
    assert set(Node.objects.values_list("shape__source", flat=True)) == {"annotation"}


def test_the_newest_version_served_is_read(gateway: Gateway) -> None:
    assert served_slices(gateway) == SLICES
    assert gateway.versions("nowhere.k8s.io") == []


def test_the_last_complete_generation_stands_while_the_next_is_written() -> None:
    slices = Slices()
    old = [resource_slice([device(0, "A")], node="n", name=name, count=2) for name in ("a", "b")]
    assert slices.put("a", old[0]) == set()
    assert slices.put("b", old[1]) == {"n"}
    new = [resource_slice([device(0, "B")], node="n", name=name, generation=2, count=2) for name in ("a", "b")]
    assert slices.put("a", new[0]) == set()
    assert [one["spec"] for one in slices.on_node("n")] == [one["spec"] for one in old]
    assert slices.put("b", new[1]) == {"n"}
    assert slices.put("b", new[1]) == set(), "nothing new"
    assert [one["spec"]["pool"]["generation"] for one in slices.on_node("n")] == [2, 2]
    assert slices.lose("a") == set()
    assert slices.lose("b") == {"n"}
    assert slices.on_node("n") == []


def test_a_slice_of_no_single_node_tells_of_none() -> None:
    slices = Slices()
    shared = resource_slice([], node="", name="a")
    shared["spec"]["allNodes"] = True
    assert slices.put("a", shared) == set()
    assert slices.lose("a") == set()
