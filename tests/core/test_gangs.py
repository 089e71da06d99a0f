"""Gangs of several roles: together, near and apart, and refused only when no choice serves."""

import pytest

from tests.core.stories import tell


def test_a_launcher_goes_to_a_node_without_gpus_unless_it_wants_to_be_near() -> None:
    story = tell("""
cluster: {nodes: [{name: c, shape: cpu-only}, {name: "g[0-3]", shape: dgx-h100}]}
jobs:
  - {name: far, queue: q, roles: [{name: launcher, cpus: 4}, {name: worker, workers: 2, gpus: 8, cpus: 8}]}
  - name: near
    queue: q
    submitted: 1
    roles: [{name: launcher, cpus: 4, near: worker}, {name: worker, workers: 2, gpus: 8, cpus: 8}]
""")
    assert story.nodes("far") == ["c", "g0", "g1"]
    assert story.nodes("near") == ["g2", "g2", "g3"]


def test_a_gang_that_fits_one_host_stays_on_it_whole() -> None:
    story = tell("""
cluster: {nodes: [{name: c, shape: cpu-only}, {name: g, shape: dgx-h100}]}
jobs: [{name: j, queue: q, roles: [{name: launcher, cpus: 4}, {name: worker, gpus: 8, cpus: 8}]}]
""")
    assert story.nodes("j") == ["g", "g"]


def test_near_means_the_same_rack_when_the_host_is_full() -> None:
    story = tell("""
cluster:
  levels: [rack]
  nodes:
    - {name: a, shape: cpu-only, rack: r0}
    - {name: b0, shape: dgx-h100, rack: r1, cpus: 8}
    - {name: b1, shape: cpu-only, rack: r1, cpus: 8}
jobs: [{name: j, queue: q, roles: [{name: server, cpus: 8, near: worker}, {name: worker, gpus: 8, cpus: 8}]}]
""")
    assert story.nodes("j") == ["b1", "b0"]


def test_roles_apart_never_share_a_host() -> None:
    story = tell("""
cluster: {nodes: [{name: "n[0-1]", shape: dgx-h100}]}
jobs:
  - {name: j, queue: q, roles: [{name: a, gpus: 2}, {name: b, gpus: 2, apart: a}]}
  - {name: three, queue: q, submitted: 1, roles: [{name: a, gpus: 1, workers: 2, apart: b}, {name: b, gpus: 2, workers: 2}]}
""")
    assert len(set(story.nodes("j"))) == 2
    first, second = set(story.nodes("three")[:2]), set(story.nodes("three")[2:])
    assert not first & second


def test_a_later_role_without_room_makes_the_larger_one_choose_again() -> None:
    # Packing puts `big` on a, the fuller node; but `helper` fits nowhere else.
    story = tell("""
cluster:
  nodes:
    - {name: a, shape: l40s-pcie4, cpus: 40, others: {gpus: [0, 1]}}
    - {name: b, shape: l40s-pcie4, cpus: 10}
jobs: [{name: j, queue: q, roles: [{name: big, gpus: 2, cpus: 8}, {name: helper, cpus: 36}]}]
""")
    assert story.nodes("j") == ["b", "a"]


def test_a_gang_wider_than_its_spread_allows_is_told_so() -> None:
    story = tell("""
cluster: {nodes: [{name: "n[0-2]", shape: dgx-h100}]}
jobs:
  - {name: three, queue: q, workers: 3, gpus: 1, spread: true}
  - {name: four, queue: q, workers: 4, gpus: 1, spread: true, submitted: 1}
""")
    assert sorted(story.nodes("three")) == ["n0", "n1", "n2"]
    assert story.reason("four") == "TopologyUnsatisfied"


def test_an_exclusive_gang_of_two_roles_may_share_its_own_node() -> None:
    story = tell("""
cluster: {nodes: [{name: "n[0-1]", shape: dgx-h100}]}
jobs:
  - {name: mine, queue: q, exclusive: true, roles: [{name: a, gpus: 4}, {name: b, cpus: 2, near: a}]}
  - {name: other, queue: q, gpus: 1, submitted: 1}
  - {name: late, queue: q, gpus: 1, exclusive: true, submitted: 2}
""")
    assert story.nodes("mine") == ["n0", "n0"]
    assert story.nodes("other") == ["n1"]
    assert story.reason("late") == "Fragmented"


TIGHT_RACK = """
cluster:
  levels: [rack]
  nodes:
    - {name: a, shape: l40s-pcie4, rack: r0, cpus: 40, others: {gpus: [0, 1]}}
    - {name: b, shape: l40s-pcie4, rack: r0, cpus: 10}
    - {name: "c[0-1]", shape: cpu-only, rack: r1, cpus: 40}
"""


@pytest.mark.parametrize("topology", ["{}", "{required: rack}", "{preferred: rack}"])
def test_the_next_choice_is_tried_within_a_rack_before_the_gang_leaves_it(topology: str) -> None:
    roles = "[{name: big, gpus: 2, cpus: 8}, {name: helper, cpus: 36}]"
    story = tell(f"{TIGHT_RACK}\njobs: [{{name: j, queue: q, topology: {topology}, roles: {roles}}}]")
    assert story.nodes("j") == ["b", "a"]


def test_a_gang_too_large_to_search_seats_its_small_role_first_if_it_must() -> None:
    story = tell("""
cluster:
  nodes:
    - {name: a, shape: l40s-pcie4, cpus: 40}
    - {name: "b[0-11]", shape: l40s-pcie4, cpus: 10, others: {gpus: [0]}}
jobs: [{name: j, queue: q, roles: [{name: w, workers: 36, gpus: 1, cpus: 2}, {name: helper, cpus: 36}]}]
""")
    assert story.nodes("j")[-1] == "a"


@pytest.mark.parametrize("want", ["required", "preferred"])
def test_all_roles_descend_together_into_the_rack_that_holds_them_all(want: str) -> None:
    # The two large workers alone would fit rack r0 more tightly.
    story = tell(f"""
cluster:
  levels: [block, rack]
  nodes:
    - {{name: "a[0-1]", shape: dgx-h100, block: b0, rack: r0}}
    - {{name: "b[0-2]", shape: dgx-h100, block: b0, rack: r1}}
jobs:
  - name: j
    queue: q
    topology: {{{want}: block}}
    roles: [{{name: large, workers: 2, gpus: 8}}, {{name: small, gpus: 4}}]
""")
    assert sorted(story.nodes("j")) == ["b0", "b1", "b2"]


def test_near_holds_whichever_of_the_two_roles_says_it() -> None:
    story = tell("""
cluster: {nodes: [{name: c, shape: cpu-only}, {name: "g[0-1]", shape: dgx-h100}]}
jobs:
  - name: j
    queue: q
    roles: [{name: launcher, cpus: 4}, {name: worker, workers: 2, gpus: 8, near: launcher}]
""")
    assert sorted(set(story.nodes("j"))) == ["g0", "g1"]
