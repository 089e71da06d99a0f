"""Parts of a GPU: fractions, memory shares, MIG instances, time slices; whole GPUs never from shared ones."""

from scheduler.place.mig import starts_of
from tests.core.stories import tell


def test_a_fraction_fills_the_tightest_shared_gpu_on_any_node() -> None:
    story = tell("""
cluster: {nodes: [{name: "n[0-1]", shape: l40s-pcie4}]}
jobs:
  - {name: r0, queue: q, gpu_fraction: 0.3, running: {worker-0: {node: n0, gpus: [0]}}}
  - {name: r1, queue: q, gpu_fraction: 0.6, running: {worker-0: {node: n1, gpus: [2]}}}
  - {name: f, queue: q, gpu_fraction: 0.4, submitted: 1}
  - {name: g, queue: q, gpu_fraction: 0.4, submitted: 2}
  - {name: h, queue: q, gpu_fraction: 0.4, submitted: 3}
""")
    assert [story.nodes(job) + story.gpus(job) for job in "fgh"] == [["n1", [2]], ["n0", [0]], ["n0", [1]]]


def test_memory_shares_are_measured_on_the_model_they_get() -> None:
    story = tell("""
cluster: {nodes: [{name: n, shape: l40s-pcie4, others: {gpus: [1, 2, 3]}}]}
jobs:
  - {name: a, queue: q, gpu_memory: 24Gi}
  - {name: b, queue: q, gpu_memory: 24Gi, submitted: 1}
  - {name: c, queue: q, gpu_memory: 1Gi, submitted: 2}
  - {name: too-large, queue: q, gpu_memory: 64Gi, submitted: 3}
""")
    assert story.placed() == ["a", "b"]
    assert story.reason("c") == "InsufficientGPUs"
    assert story.reason("too-large") == "NoMatchingNodes"


def test_memory_shares_fill_a_gpu_as_its_memory_does() -> None:
    story = tell("""
cluster: {nodes: [{name: n, shape: l40s-pcie4, others: {gpus: [3]}}]}
jobs:
  - {name: third-0, queue: q, gpu_memory: 16Gi}
  - {name: third-1, queue: q, gpu_memory: 16Gi}
  - {name: third-2, queue: q, gpu_memory: 16Gi}
  - {name: part, queue: q, gpu_memory: 10Gi}
  - {name: rest, queue: q, gpu_memory: 38Gi}
  - {name: small, queue: q, gpu_memory: 20Gi}
  - {name: large, queue: q, gpu_memory: 29Gi}
""")
    assert story.placed() == ["third-0", "third-1", "third-2", "part", "rest", "small"]
    assert story.gpus("third-0") == story.gpus("third-2") != story.gpus("part") == story.gpus("rest")


def test_scattered_fractions_are_fragmented() -> None:
    story = tell("""
cluster: {nodes: [{name: n, shape: l40s-pcie4, others: {gpus: [2, 3]}}]}
jobs:
  - {name: r0, queue: q, gpu_fraction: 0.7, running: {worker-0: {node: n, gpus: [0]}}}
  - {name: r1, queue: q, gpu_fraction: 0.7, running: {worker-0: {node: n, gpus: [1]}}}
  - {name: half, queue: q, gpu_fraction: 0.5}
""")
    assert story.reason("half") == "Fragmented"


def test_fractions_and_mig_never_meet_on_one_gpu() -> None:
    story = tell("""
cluster: {nodes: [{name: n, shape: dgx-h100, others: {gpus: [1, 2, 3, 4, 5, 6, 7]}}]}
jobs:
  - {name: f, queue: q, gpu_fraction: 0.1}
  - {name: m, queue: q, mig: 1g.10gb, submitted: 1}
""")
    assert story.placed() == ["f"]
    assert story.reason("m") == "InsufficientGPUs"


def test_mig_goes_to_the_fullest_partitioned_gpu() -> None:
    story = tell("""
cluster: {nodes: [{name: n, shape: dgx-h100}]}
jobs:
  - {name: r0, queue: q, mig: 1g.10gb, running: {worker-0: {node: n, gpus: [3], start: 6}}}
  - {name: r1, queue: q, mig: 3g.40gb, running: {worker-0: {node: n, gpus: [5], start: 4}}}
  - {name: m, queue: q, mig: 2g.20gb}
""")
    worker = story.told["jobs"]["m"]["placement"][0]
    assert (worker["gpus"], worker["start"]) == ([5], 0)


def test_an_instance_starts_where_the_largest_profiles_stay_possible() -> None:
    # A 1g at 0..3 would spoil the only start of 4g; 4 is the lowest that does not.
    starts = starts_of("H100-80GB", "1g.10gb")
    assert starts.best[0, 0] == 4
    assert starts.times[0, 0] == 7
    assert starts_of("H100-80GB", "3g.40gb").times[0b1111, 4] == 1


def test_a_profile_no_model_knows_matches_no_node() -> None:
    story = tell("""
cluster: {nodes: [{name: n, shape: l40s-pcie4}]}
jobs: [{name: m, queue: q, mig: 3g.40gb}]
""")
    assert story.reason("m") == "NoMatchingNodes"


def test_time_slices_are_given_only_to_who_asks_and_never_two_of_a_gang_on_one_gpu() -> None:
    story = tell("""
cluster:
  nodes: [{name: n, shape: l40s-pcie4, labels: {nvidia.com/gpu.replicas: 2}, others: {gpus: [2, 3]}}]
jobs:
  - {name: plain, queue: q, gpus: 1}
  - {name: pair, queue: q, workers: 2, gpus: 1, time_slice: true}
  - {name: one, queue: q, gpus: 1, time_slice: true, submitted: 1}
  - {name: three, queue: q, workers: 3, gpus: 1, time_slice: true, submitted: 2}
  - {name: five, queue: q, workers: 5, gpus: 1, time_slice: true, submitted: 3}
""")
    assert story.gpus("pair") == [[0], [1]]
    assert story.placed() == ["pair", "one"]
    assert story.reason("plain") == "NoMatchingNodes"
    assert story.reason("three") == "InsufficientGPUs"  # without others' pods there would be four GPUs
    assert story.reason("five") == "ExceedsCluster"


def test_a_time_sliced_gpu_is_only_for_who_says_so() -> None:
    story = tell("""
cluster:
  nodes:
    - {name: sliced, shape: dgx-h100, labels: {nvidia.com/gpu.replicas: 2}}
    - {name: full, shape: dgx-h100, others: {gpus: [0, 1, 2, 3, 4, 5, 6, 7]}}
jobs:
  - {name: whole, queue: q, gpus: 1}
  - {name: half, queue: q, gpu_fraction: 0.5}
  - {name: instance, queue: q, mig: 1g.10gb}
  - {name: sliced, queue: q, gpus: 1, time_slice: true}
""")
    assert story.placed() == ["sliced"]
    assert [story.reason(job) for job in ("whole", "half", "instance")] == ["InsufficientGPUs"] * 3
