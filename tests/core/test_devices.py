"""Which GPUs of a node a worker gets."""

import itertools

import numpy as np
import pytest

from scheduler.model.catalogue import SHAPES
from scheduler.model.hardware import NodeShape, discovered, gpus_of, joined_groups, mask_of
from scheduler.model.tables import DeviceNeed, DeviceTable, table_of
from tests.core.stories import tell


def chosen(shape: str, count: int, *, taken: list[int] | None = None, **need: object) -> tuple[int, ...]:
    """GPUs that a worker of `count` gets on a node of this shape."""
    table = table_of(SHAPES[shape], DeviceNeed(count, **need))  # type: ignore[arg-type]
    return gpus_of(int(table.chosen[SHAPES[shape].all_gpus & ~mask_of(taken or [])]))


@pytest.mark.parametrize(
    ("shape", "count", "taken", "gpus"),
    [
        ("dgx-h100", 1, [], (0,)),
        ("dgx-h100", 2, [0], (1, 2)),  # the far NUMA node and its two switches stay whole
        ("dgx-h100", 1, [0], (1,)),
        ("a100-pcie-bridged", 1, [4], (5,)),
        ("a100-pcie-bridged", 2, [0, 3], (4, 5)),
        ("a100-pcie-bridged", 3, [], (0, 1, 2)),  # no bridge joins three: one switch
        ("a100-two-islands", 4, [1], (4, 5, 6, 7)),
        ("dgx1-v100", 4, [1], (4, 5, 6, 7)),
        ("dgx1-v100", 2, [], (0, 1)),
        ("l40s-pcie4", 2, [0], (2, 3)),
        ("l40s-pcie4", 3, [], (0, 1, 2)),
        ("rtx4090-8", 5, [], (0, 1, 2, 3, 4)),
        ("l40s-pcie4", 5, [], ()),
    ],
)
def test_best_set(shape: str, count: int, taken: list[int], gpus: tuple[int, ...]) -> None:
    assert chosen(shape, count, taken=taken) == gpus


def test_what_is_required_bars_all_other_sets() -> None:
    nvlink, switch = frozenset({"nvlink"}), frozenset({"switch"})
    assert chosen("a100-two-islands", 4, taken=[0, 4], required=nvlink) == ()
    assert chosen("dgx-h100", 2, taken=[0, 2, 4, 6], required=switch) == ()
    assert chosen("l40s-pcie4", 2, taken=[0, 1], nic=True) == ()
    assert chosen("l40s-pcie4", 2, taken=[0], nic=True) == (1, 2)


def test_a_preferred_locality_goes_before_link_quality() -> None:
    # On the bridged machine a pair is joined; two pairs behind one switch are preferred to a joined pair across.
    assert chosen("dgx1-v100", 2, taken=[0, 1, 2, 4, 6, 7], preferred="switch") == (3, 5)
    assert chosen("dgx1-v100", 2, taken=[0, 3, 4, 7], preferred="numa") == (1, 2)


def test_the_table_agrees_with_trying_everything() -> None:
    shape = SHAPES["dgx1-v100"]
    table = table_of(shape, DeviceNeed(3))
    quality = {0: 100, 1: 85, 2: 75, 3: 60}
    for mask in range(1, 256, 7):
        sets = [s for s in itertools.combinations(range(8), 3) if mask_of(s) & mask == mask_of(s)]
        grades = [min(k for k, ok in enumerate(_classes(shape, s)) if ok) for s in sets]
        assert table.quality[mask] == (quality[min(grades)] if sets else 0)


def _classes(shape: NodeShape, gpus: tuple[int, ...]) -> list[bool]:
    joined = all(shape.links[a][b] for a, b in itertools.combinations(gpus, 2))
    return [joined, len({shape.switch[g] for g in gpus}) == 1, len({shape.numa[g] for g in gpus}) == 1, True]


def test_sixteen_gpus_are_solved_as_they_are_met() -> None:
    wide = NodeShape(
        "wide",
        SHAPES["dgx-h100"].model,
        joined_groups(16, [range(8), range(8, 16)]),
        (0,) * 8 + (1,) * 8,
        tuple(range(16)),
    )
    table = DeviceTable(wide, DeviceNeed(4))
    masks = np.array([0xFFFF, 0xFFF0, 0x0FF1], dtype=np.uint32)
    table.ensure(masks)
    assert [gpus_of(int(one)) for one in table.chosen[masks]] == [(0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11)]
    assert table.times[masks].tolist() == [4, 3, 2]
    assert table.solved.sum() < 64


def test_a_shape_from_a_link_matrix_is_the_catalogues() -> None:
    l40s = SHAPES["l40s-pcie4"]
    links = [
        ["X", "PIX", "SYS", "SYS"],
        ["PIX", "X", "SYS", "SYS"],
        ["SYS", "SYS", "X", "PXB"],
        ["SYS", "SYS", "PXB", "X"],
    ]
    assert discovered(l40s.model, links=links, numa=[0, 0, 1, 1], nics=l40s.nics) == l40s


def test_each_worker_of_a_gang_is_named_a_nic_beside_its_gpus() -> None:
    story = tell("""
cluster: {nodes: [{name: n, shape: dgx-h100}]}
jobs: [{name: g, queue: q, workers: 4, gpus: 2}, {name: alone, queue: q, gpus: 1, submitted: 1}]
""")
    assert [worker["nic"] // 2 for worker in story.told["jobs"]["g"]["placement"]] == [0, 1, 2, 3]


def test_nics_are_shared_evenly() -> None:
    story = tell("""
cluster: {nodes: [{name: n, shape: a100-two-islands}]}
jobs: [{name: g, queue: q, workers: 8, gpus: 1}]
""")
    nics = [worker["nic"] for worker in story.told["jobs"]["g"]["placement"]]
    assert sorted(nics) == [0] * 4 + [1] * 4


def test_a_worker_below_what_it_preferred_says_why() -> None:
    story = tell("""
cluster: {nodes: [{name: "n[0-5]", shape: a100-two-islands, others: {gpus: [0, 4]}}]}
jobs: [{name: four, queue: q, gpus: 4}]
""")
    assert (
        "No NVLink group with 4 GPUs free was left to worker on any of 6 nodes."
        in story.told["jobs"]["four"]["message"]
    )


def test_a_gang_shares_the_only_nic_s_gpus_where_the_best_sets_would_spoil_it() -> None:
    story = tell("""
cluster: {nodes: [{name: n, shape: l40s-pcie4}]}
jobs: [{name: g, queue: q, workers: 2, gpus: 2, nic: required}]
""")
    assert story.placed() == ["g"]
    assert all({0, 1} & set(gpus) for gpus in story.gpus("g"))


def test_one_worker_gets_the_best_set_though_it_leaves_none_with_a_nic() -> None:
    story = tell("""
cluster: {nodes: [{name: n, shape: l40s-pcie4}]}
jobs:
  - {name: one, queue: q, gpus: 2, nic: required}
  - {name: two, queue: q, gpus: 2, nic: required, submitted: 1}
""")
    assert story.gpus("one") == [[0, 1]]
    assert story.reason("two") == "TopologyUnsatisfied"
