"""Limits, guarantees and borrowing: at every ancestor, per resource and flavor."""

import pytest

from tests.core.stories import tell

NODES = """cluster: {nodes: [{name: "h[0-1]", shape: dgx-h100}, {name: a, shape: dgx-a100}]}"""


def test_a_flavor_at_its_limit_sends_the_job_to_the_next_model() -> None:
    story = tell(f"""
{NODES}
queues: {{q: {{limit: {{gpu/H100-80GB: 8}}}}}}
jobs:
  - {{name: first, queue: q, gpus: 8, gpu: {{model: [H100, A100]}}}}
  - {{name: second, queue: q, gpus: 8, gpu: {{model: [H100, A100]}}, submitted: 1}}
  - {{name: third, queue: q, gpus: 8, gpu: {{model: H100}}, submitted: 2}}
""")
    assert (story.nodes("first"), story.nodes("second")) == (["h0"], ["a"])
    assert story.reason("third") == "QuotaExceeded"
    assert "queue q has 8 GPUs of its limit of 8 GPUs in use" in story.told["jobs"]["third"]["message"]


@pytest.mark.parametrize(
    ("quota", "reason"),
    [
        ("{limit: {cpu: 7}}", "QuotaExceeded"),
        ("{limit: {memory: 3Gi}}", "QuotaExceeded"),
        ("{limit: {gpu: 0.5}}", "QuotaExceeded"),
        ("{limit: {gpu: 1, cpu: 8, memory: 4Gi}}", None),
        ("{guaranteed: {cpu: 0}, limit: 1}", None),
        ("{borrow: 0}", "BorrowLimit"),
        ("{guaranteed: 1, borrow: 0}", None),
    ],
)
def test_each_resource_by_itself(quota: str, reason: str | None) -> None:
    story = tell(f"""
{NODES}
queues: {{q: {quota}}}
jobs: [{{name: j, queue: q, gpus: 1, cpus: 8, memory: 4Gi}}]
""")
    assert story.reason("j") == reason


def test_fractions_and_instances_count_as_their_share() -> None:
    story = tell("""
cluster: {nodes: [{name: h, shape: dgx-h100}]}
queues: {q: {limit: 1}}
jobs:
  - {name: half, queue: q, gpu_fraction: 0.5}
  - {name: three-sevenths, queue: q, mig: 3g.40gb, submitted: 1}
  - {name: another, queue: q, mig: 1g.10gb, submitted: 2}
""")
    assert story.placed() == ["half", "three-sevenths"]
    assert story.reason("another") == "QuotaExceeded"


def test_what_runs_counts_and_an_ancestor_counts_all_below_it() -> None:
    story = tell(f"""
{NODES}
queues: {{top: {{limit: 12}}, a: {{parent: top}}, b: {{parent: top}}}}
jobs:
  - {{name: old, queue: a, gpus: 8, running: {{worker-0: {{node: a, gpus: [0, 1, 2, 3, 4, 5, 6, 7]}}}}}}
  - {{name: four, queue: b, gpus: 4, submitted: 1}}
  - {{name: one, queue: b, gpus: 1, submitted: 2}}
""")
    assert story.placed() == ["four"]
    assert story.reason("one") == "QuotaExceeded"


def test_an_inner_queues_guarantee_is_at_least_its_childrens_sum() -> None:
    story = tell(f"""
{NODES}
queues: {{top: {{guaranteed: 4}}, a: {{parent: top, guaranteed: 6}}, b: {{parent: top, guaranteed: 2}}}}
jobs:
  - {{name: six, queue: a, gpus: 6, preemptible: false}}
  - {{name: two, queue: b, gpus: 2, preemptible: false, submitted: 1}}
  - {{name: more, queue: b, gpus: 1, preemptible: false, submitted: 2}}
  - {{name: borrowed, queue: b, gpus: 1, submitted: 3}}
""")
    assert story.placed() == ["six", "two", "borrowed"]
    assert story.reason("more") == "GuaranteeExceeded"
