"""Elastic jobs: started at their minimum, grown on what everybody else left."""

from tests.core.stories import tell


def test_grown_workers_stand_beside_the_first_ones_and_are_numbered_along_the_tree() -> None:
    story = tell("""
cluster:
  levels: [rack]
  nodes:
    - {name: "a[0-3]", shape: dgx-h100, rack: r0}
    - {name: "b[0-1]", shape: dgx-h100, rack: r1}
jobs: [{name: el, queue: q, workers: 5, min_workers: 2, gpus: 8}]
""")
    assert story.nodes("el") == ["b0", "b1", "a0", "a1", "a2"]
    assert [worker.rank for worker in story.plan.units[0].workers] == [0, 1, 2, 3, 4]


def test_growth_stays_within_the_required_rack_and_the_limit() -> None:
    story = tell("""
cluster:
  levels: [rack]
  nodes:
    - {name: "a[0-2]", shape: dgx-h100, rack: r0}
    - {name: "b[0-2]", shape: dgx-h100, rack: r1}
queues: {q: {}, r: {limit: 16}}
jobs:
  - {name: racked, queue: q, workers: 9, min_workers: 3, gpus: 8, topology: {required: rack}}
  - {name: capped, queue: r, workers: 9, min_workers: 1, gpus: 8, submitted: 1}
""")
    assert story.nodes("racked") == ["a0", "a1", "a2"]
    assert story.nodes("capped") == ["b0", "b1"]


def test_a_running_job_grows_under_a_new_index_and_once_grown_is_settled() -> None:
    story = tell("""
cluster: {nodes: [{name: "n[0-2]", shape: dgx-h100}]}
jobs:
  - name: el
    queue: q
    workers: 2
    min_workers: 1
    gpus: 8
    running: {worker-0: {node: n0, gpus: [0, 1, 2, 3, 4, 5, 6, 7]}}
""")
    assert story.told["jobs"]["el"]["decision"] == "kept"
    assert [worker["worker"] for worker in story.told["jobs"]["el"]["placement"]] == ["worker-0", "worker-1"]
    assert [unit.is_growth for unit in story.plan.units] == [True]


def test_minimums_of_all_go_before_anybody_grows() -> None:
    story = tell("""
cluster: {nodes: [{name: "n[0-1]", shape: dgx-h100}]}
jobs:
  - {name: first, queue: q, workers: 16, min_workers: 1, gpus: 1}
  - {name: second, queue: q, workers: 16, min_workers: 4, gpus: 1, submitted: 1}
""")
    assert [len(story.nodes(job)) for job in ("first", "second")] == [12, 4]


def test_a_lost_worker_leaves_an_elastic_job_running_while_it_has_its_minimum() -> None:
    story = tell("""
cluster: {nodes: [{name: "n[0-1]", shape: dgx-h100}, {name: down, shape: dgx-h100, ready: false}]}
jobs:
  - name: el
    queue: q
    workers: 2
    min_workers: 1
    gpus: 8
    running: {worker-0: {node: n0, gpus: [0, 1, 2, 3, 4, 5, 6, 7]}, worker-1: {node: down, gpus: [0, 1, 2, 3, 4, 5, 6, 7]}}
""")
    assert story.told["jobs"]["el"]["decision"] == "kept"
    assert story.nodes("el") == ["n0", "n1"]
