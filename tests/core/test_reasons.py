"""The plainest cause that is true: reason codes in their order of precedence."""

import pytest

from tests.core.stories import tell

ONE_NODE = "cluster: {nodes: [{name: n, shape: dgx-h100, cpus: 32, memory: 64Gi, others: {gpus: [0, 1]}}]}"


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        ("gpus: 9, held: true", "Held"),
        ("gpus: 9, after: [rival]", "Dependency"),
        ("gpus: 9, not_before: 5", "NoMatchingNodes"),
        ("gpus: 8, workers: 2, not_before: 5", "ExceedsCluster"),
        ("gpus: 7, not_before: 5", "Backoff"),
        ("cpus: 33", "NoMatchingNodes"),
        ("cpus: 32, workers: 2", "ExceedsCluster"),
        ("gpus: 7", "InsufficientGPUs"),
        ("gpus: 1, cpus: 31", "InsufficientCPU"),
        ("gpus: 1, memory: 63Gi", "InsufficientMemory"),
        ("gpus: 1, cpus: 31, memory: 63Gi", "InsufficientCPU"),
        ("gpus: 2, workers: 2, spread: true", "TopologyUnsatisfied"),
        ("gpus: 1, gpu: {vendor: amd}", "NoMatchingNodes"),
        ("gpus: 1, node_selector: {disk: fast}", "NoMatchingNodes"),
        ("gpus: 6, locality: {required: numa}", "TopologyUnsatisfied"),
    ],
)
def test_one_job_on_one_node(job: str, reason: str) -> None:
    # The rival holds two CPUs and two gibibytes, but no GPU.
    story = tell(f"""
{ONE_NODE}
jobs:
  - {{name: rival, queue: q, cpus: 2, memory: 2Gi, running: {{worker-0: {{node: n}}}}}}
  - {{name: j, queue: q, {job}}}
""")
    assert story.reason("j") == reason


def test_cpu_scattered_over_nodes_is_still_insufficient_cpu() -> None:
    story = tell("""
cluster: {nodes: [{name: "n[0-1]", shape: dgx-h100, cpus: 16, others: {cpus: 8}}]}
jobs: [{name: j, queue: q, gpus: 1, cpus: 12}]
""")
    assert story.reason("j") == "InsufficientCPU"


def test_an_outage_makes_no_job_impossible() -> None:
    story = tell("""
cluster:
  nodes:
    - {name: down, shape: dgx-h100, ready: false}
    - {name: shut, shape: dgx-a100, cordoned: true}
    - {name: ill, shape: l40s-pcie4, unhealthy_gpus: [0]}
jobs:
  - {name: h, queue: q, gpus: 8, gpu: {model: H100}}
  - {name: a, queue: q, gpus: 8, gpu: {model: A100}}
  - {name: l, queue: q, gpus: 4, gpu: {model: L40S}}
""")
    assert [story.reason(job) for job in "hal"] == ["InsufficientGPUs"] * 3


def test_a_job_that_can_never_run_holds_up_nobody_in_a_strict_queue() -> None:
    story = tell("""
cluster: {levels: [rack], nodes: [{name: a, shape: dgx-h100, rack: r0}, {name: b, shape: dgx-h100, rack: r1}]}
policy: {backfill: false}
jobs:
  - {name: never, queue: q, workers: 2, gpus: 8, topology: {required: rack}}
  - {name: held, queue: q, gpus: 1, held: true}
  - {name: fits, queue: q, workers: 2, gpus: 8, submitted: 1}
  - {name: head, queue: q, gpus: 8, submitted: 2}
  - {name: behind, queue: q, cpus: 1, submitted: 3}
""")
    assert story.placed() == ["fits"]
    assert [story.reason(job) for job in ("never", "head", "behind")] == [
        "TopologyUnsatisfied",
        "InsufficientGPUs",
        "BehindHead",
    ]


def test_the_reason_of_a_shapes_second_job_follows_what_others_took_since() -> None:
    story = tell("""
cluster: {nodes: [{name: "n[0-1]", shape: dgx-h100, others: {gpus: [0, 1, 2, 3]}}]}
jobs:
  - {name: first, queue: q, gpus: 8}
  - {name: small, queue: q, gpus: 1, submitted: 1}
  - {name: second, queue: q, gpus: 8, submitted: 2}
""")
    assert (story.reason("first"), story.reason("second")) == ("Fragmented", "InsufficientGPUs")


def test_the_funnel_counts_the_nodes_left_after_each_filter() -> None:
    story = tell("""
cluster:
  nodes:
    - {name: down, shape: dgx-h100, ready: false}
    - {name: tainted, shape: dgx-h100, taints: [{key: team, value: x}]}
    - {name: "other[0-1]", shape: dgx-a100}
    - {name: "full[0-2]", shape: dgx-h100, others: {gpus: [0]}}
jobs: [{name: j, queue: q, gpus: 8, gpu: {model: H100}}]
""")
    funnel = {step["cause"]: step["left"] for step in story.told["jobs"]["j"]["funnel"]}
    assert funnel == {"health": 6, "taint": 5, "model": 3, "exclusive": 3, "gpus": 0}


def test_nodes_to_avoid_are_used_only_where_no_other_matches() -> None:
    story = tell("""
cluster: {nodes: [{name: a, shape: dgx-h100}, {name: b, shape: dgx-a100}, {name: c, shape: dgx-a100}]}
jobs:
  - {name: elsewhere, queue: q, gpus: 1, gpu: {model: A100}, avoid: [b]}
  - {name: nowhere, queue: q, gpus: 1, gpu: {model: H100}, avoid: [a]}
""")
    assert (story.nodes("elsewhere"), story.nodes("nowhere")) == (["c"], ["a"])


def test_whole_gpus_and_parts_of_one_gang_come_from_the_same_free_gpus() -> None:
    story = tell("""
cluster:
  nodes: [{name: n, shape: dgx-h100}, {name: full, shape: dgx-h100, others: {gpus: [0, 1, 2, 3, 4, 5, 6, 7]}}]
jobs: [{name: j, queue: q, roles: [{name: trainer, gpus: 8}, {name: server, gpu_fraction: 0.5}]}]
""")
    assert story.reason("j") == "InsufficientGPUs"
