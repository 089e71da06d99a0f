"""Domains: the tightest that holds the gang, subset descent, slices, ranks along the tree."""

import numpy as np
import pytest

from scheduler.place.fill import cut_to_slices, divide
from scheduler.place.ranks import crossings
from tests.core.stories import tell

RACKS = """
cluster:
  levels: [block, rack]
  nodes:
    - {name: "a[0-3]", shape: dgx-h100, block: b0, rack: r0}
    - {name: "b[0-1]", shape: dgx-h100, block: b0, rack: r1}
    - {name: "c[0-2]", shape: dgx-h100, block: b1, rack: r2}
    - {name: "d[0-1]", shape: dgx-h100, block: b1, rack: r3}
"""


@pytest.mark.parametrize(
    ("workers", "topology", "nodes"),
    [
        (2, "{}", ["b0", "b1"]),  # the tightest rack
        (3, "{}", ["c0", "c1", "c2"]),
        (5, "{}", ["c0", "c1", "c2", "d0", "d1"]),  # the tightest block, its largest rack first
        (5, "{required: block}", ["c0", "c1", "c2", "d0", "d1"]),
        (4, "{preferred: block}", ["c0", "c1", "c2", "d0"]),  # b1 is tighter than b0
        (6, "{preferred: rack}", ["a0", "a1", "a2", "a3", "b0", "b1"]),
        (7, "{preferred: block}", ["a0", "a1", "a2", "a3", "b0", "b1", "d0"]),  # the last one in the tightest rack
    ],
)
def test_a_gang_goes_to_the_nearest_domains_that_hold_it(workers: int, topology: str, nodes: list[str]) -> None:
    story = tell(f"{RACKS}\njobs: [{{name: g, queue: q, workers: {workers}, gpus: 8, topology: {topology}}}]")
    assert sorted(story.nodes("g")) == nodes


def test_the_last_part_goes_where_it_fits_tightest() -> None:
    story = tell("""
cluster:
  levels: [rack]
  nodes:
    - {name: "a[0-2]", shape: dgx-h100, rack: r0}
    - {name: "b[0-1]", shape: dgx-h100, rack: r1}
    - {name: c0, shape: dgx-h100, rack: r2}
jobs: [{name: g, queue: q, workers: 4, gpus: 8}]
""")
    assert sorted(story.nodes("g")) == ["a0", "a1", "a2", "c0"]


def test_ranks_stay_together_in_every_domain() -> None:
    story = tell(f"{RACKS}\njobs: [{{name: g, queue: q, workers: 18, gpus: 4}}]")
    layout = story.scenario.snapshot.layout
    rows = np.searchsorted(layout.nodes.key, [worker.node for worker in story.plan.units[0].workers])
    assert [worker.rank for worker in story.plan.units[0].workers] == list(range(18))
    for level in range(len(layout.levels)):
        domains = len(np.unique(layout.group_of[level][rows]))
        assert crossings(layout, rows, level) == (domains if domains > 1 else 0)


def test_an_incomplete_last_slice_stays_in_one_domain_too() -> None:
    story = tell("""
cluster:
  levels: [rack]
  nodes:
    - {name: "a[0-5]", shape: dgx-h100, rack: r0}
    - {name: "b[0-4]", shape: dgx-h100, rack: r1}
jobs: [{name: g, queue: q, workers: 10, gpus: 8, topology: {slice: {workers: 4, required: rack}}}]
""")
    racks = [node[0] for node in story.nodes("g")]
    assert [set(racks[0:4]), set(racks[4:8]), set(racks[8:])] == [{"b"}, {"a"}, {"a"}]


def test_a_slice_that_no_domain_holds_is_told_so() -> None:
    story = tell("""
cluster:
  levels: [rack]
  nodes: [{name: "a[0-2]", shape: dgx-h100, rack: r0}, {name: "b[0-2]", shape: dgx-h100, rack: r1}]
jobs: [{name: g, queue: q, workers: 4, gpus: 8, topology: {slice: {workers: 4, required: rack}}}]
""")
    assert story.reason("g") == "TopologyUnsatisfied"


def test_a_level_the_cluster_lacks_is_impossible_if_required_and_ignored_if_preferred() -> None:
    story = tell("""
cluster: {nodes: [{name: n, shape: dgx-h100}]}
jobs:
  - {name: must, queue: q, gpus: 1, topology: {required: pod}}
  - {name: may, queue: q, gpus: 1, topology: {preferred: pod}}
""")
    assert story.reason("must") == "NoMatchingNodes"
    assert story.placed() == ["may"]


def test_racks_of_the_same_name_in_two_blocks_are_two_racks() -> None:
    story = tell("""
cluster:
  levels: [block, rack]
  nodes: [{name: a, shape: dgx-h100, block: b0, rack: r}, {name: b, shape: dgx-h100, block: b1, rack: r}]
jobs: [{name: g, queue: q, workers: 2, gpus: 8, topology: {required: rack}}]
""")
    assert story.reason("g") == "TopologyUnsatisfied"


@pytest.mark.parametrize(
    ("caps", "workers", "parts"),
    [
        ([4, 2, 4], 2, [(1, 2)]),
        ([1, 2, 2], 4, [(1, 2), (2, 2)]),
        ([3, 2, 1], 4, [(0, 3), (2, 1)]),
        ([5, 5], 3, [(0, 3)]),
    ],
)
def test_dividing_over_domains(caps: list[int], workers: int, parts: list[tuple[int, int]]) -> None:
    assert divide(np.array(caps), workers) == parts


def test_room_cut_to_slices_is_a_multiple_in_every_domain() -> None:
    room, domain = np.array([2, 1, 3, 2, 5, 4]), np.array([0, 1, 0, 1, -1, 0])
    cut = cut_to_slices(room, domain, 4)
    assert cut.tolist() == [2, 0, 3, 0, 0, 3]


def test_a_preferred_level_that_was_not_to_be_had_is_said() -> None:
    story = tell("""
cluster:
  levels: [rack]
  nodes: [{name: "a[0-1]", shape: dgx-h100, rack: r0}, {name: "b[0-1]", shape: dgx-h100, rack: r1}]
jobs: [{name: g, queue: q, workers: 3, gpus: 8, topology: {preferred: rack}}]
""")
    assert "No single rack had room for all 3 workers; they are in 2." in story.told["jobs"]["g"]["message"]
    assert story.told["jobs"]["g"]["bottleneck"]["level"] == "rack"


def test_a_slice_runs_on_from_role_to_role() -> None:
    story = tell("""
cluster:
  levels: [rack]
  nodes: [{name: a, shape: dgx-h100, rack: r0}, {name: "b[0-2]", shape: dgx-h100, rack: r1}]
jobs:
  - name: g
    queue: q
    roles: [{name: head, gpus: 8}, {name: rest, workers: 3, gpus: 8}]
    topology: {slice: {workers: 2, required: rack}}
""")
    assert story.reason("g") == "TopologyUnsatisfied"


def test_spread_and_apart_hold_for_incomplete_slices_too() -> None:
    story = tell("""
cluster: {levels: [rack], nodes: [{name: "n[0-1]", shape: dgx-h100, rack: r0}]}
jobs:
  - name: g
    queue: q
    spread: true
    roles: [{name: a, gpus: 1}, {name: b, gpus: 1}]
    topology: {slice: {workers: 4, required: rack}}
""")
    assert sorted(story.nodes("g")) == ["n0", "n1"]


@pytest.mark.parametrize("want", ["required", "preferred"])
def test_a_single_worker_that_names_a_level_goes_to_its_tightest_domain_too(want: str) -> None:
    story = tell(f"""
cluster:
  levels: [rack]
  nodes:
    - {{name: a0, shape: dgx-h100, rack: r0, others: {{gpus: [0, 1, 2, 3, 4, 5]}}}}
    - {{name: a1, shape: dgx-h100, rack: r0}}
    - {{name: b0, shape: dgx-h100, rack: r1, others: {{gpus: [0, 1, 2, 3]}}}}
jobs:
  - {{name: named, queue: q, gpus: 2, topology: {{{want}: rack}}}}
  - {{name: plain, queue: q, gpus: 2, submitted: 1}}
""")
    assert (story.nodes("named"), story.nodes("plain")) == (["b0"], ["a0"])


@pytest.mark.parametrize("level", ["rack", "nvlink_domain"])
def test_what_is_free_outside_any_domain_counts_as_free_in_all(level: str) -> None:
    story = tell(f"""
cluster:
  levels: [rack]
  nodes:
    - {{name: "a[0-3]", shape: gb200-tray}}
    - {{name: "b[0-2]", shape: gb200-tray, rack: r, nvlink_domain: d}}
jobs:
  - {{name: first, queue: q, gpus: 4, topology: {{required: {level}}}}}
  - {{name: wide, queue: q, workers: 3, gpus: 4, topology: {{required: {level}}}, submitted: 1}}
""")
    assert story.reason("wide") == "TopologyUnsatisfied"


def test_slices_with_an_incomplete_one_go_to_one_host_if_one_holds_them_all() -> None:
    # Two workers alone would go to `a`, the third to `c`, each the fullest host that holds its part.
    story = tell("""
cluster:
  levels: [rack]
  nodes:
    - {name: "a[0-1]", shape: dgx-h100, rack: r}
    - {name: c, shape: dgx-h100, rack: r, others: {gpus: [0, 1, 2, 3, 4, 5]}}
jobs: [{name: g, queue: q, workers: 3, gpus: 2, topology: {preferred: rack, slice: {workers: 2, required: rack}}}]
""")
    assert story.nodes("g") == ["a0", "a0", "a0"]
