"""What fits now, and why free GPUs are stranded."""

import numpy as np
import pytest

from scheduler.model.snapshot import Snapshot
from scheduler.score.frag.fits import PerGpu, StrandedBy, fits_now, fragments, free_milli, stranded
from scheduler.score.frag.learn import mix_of
from scheduler.score.frag.mix import TaskShape
from tests.core.stories import tell

GI = 1 << 30


def world(nodes: str, jobs: str = "[]", levels: str = "[]") -> Snapshot:
    return tell(f"cluster: {{levels: {levels}, nodes: [{nodes}]}}\njobs: {jobs}\n").scenario.snapshot


def sizes(snapshot: Snapshot, per_gpu: PerGpu | None = None) -> dict[int, tuple[int, int]]:
    return {fit.gpus: (fit.jobs, fit.joined) for fit in fits_now(snapshot, per_gpu).sizes}


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        pytest.param(
            "{name: 'a[0-1]', shape: dgx-h100}", {1: (16, 16), 2: (8, 8), 4: (4, 4), 8: (2, 2)}, id="two empty nodes"
        ),
        pytest.param(
            "{name: 'a[0-1]', shape: dgx-h100, others: {gpus: [0, 1, 2]}}",
            {1: (10, 10), 2: (4, 4), 4: (2, 2), 8: (0, 0)},
            id="five free on each: odd ones are lost",
        ),
        pytest.param(
            "{name: a, shape: a100-pcie-bridged, others: {gpus: [0, 2, 4, 6]}}",
            {1: (4, 4), 2: (2, 0), 4: (1, 0), 8: (0, 0)},
            id="one of each bridge free: nothing is joined",
        ),
        pytest.param(
            "{name: a, shape: dgx-h100, cordoned: true}", {1: (0, 0), 2: (0, 0), 4: (0, 0), 8: (0, 0)}, id="cordoned"
        ),
        pytest.param(
            "{name: a, shape: dgx-h100, unhealthy_gpus: [7]}",
            {1: (7, 7), 2: (3, 3), 4: (1, 1), 8: (0, 0)},
            id="one broken",
        ),
    ],
)
def test_jobs_of_each_size(nodes: str, expected: dict[int, tuple[int, int]]) -> None:
    assert sizes(world(nodes)) == expected


def test_gpus_without_cpu_fit_nobody() -> None:
    snapshot = world("{name: a, shape: dgx-h100, others: {cpus: 80}}")
    assert sizes(snapshot, PerGpu(cpu=8_000))[1] == (4, 4)
    assert fits_now(snapshot, PerGpu(cpu=8_000)).largest_gpus == 4


def test_whole_nodes_by_domain() -> None:
    racks = ", ".join(
        f"{{name: '{rack}[0-{last}]', shape: dgx-h100, rack: {rack}}}" for rack, last in (("r", 4), ("s", 2))
    )
    snapshot = world(racks, "[{name: j, queue: q, gpus: 1, running: {worker-0: {node: s0, gpus: [3]}}}]", "[rack]")
    fits = fits_now(snapshot)
    found = {(fit.level, fit.nodes): fit.jobs for fit in fits.domains}
    assert found == {("cluster", 2): 3, ("cluster", 4): 1, ("rack", 2): 3, ("rack", 4): 1}
    assert {fit.level: fit.nodes for fit in fits.largest} == {"cluster": 7, "rack": 5}


def test_an_exclusive_job_leaves_nothing() -> None:
    jobs = "[{name: j, queue: q, cpus: 1, exclusive: true, running: {worker-0: {node: a, gpus: []}}}]"
    assert sizes(world("{name: a, shape: dgx-h100}", jobs))[1] == (0, 0)


@pytest.mark.parametrize(
    ("nodes", "cause", "milli"),
    [
        pytest.param("{name: a, shape: dgx-h100, unhealthy_gpus: [0, 1]}", StrandedBy.HEALTH, 2_000, id="two broken"),
        pytest.param("{name: a, shape: dgx-h100, ready: false}", StrandedBy.HEALTH, 8_000, id="node not ready"),
        pytest.param("{name: a, shape: dgx-h100, cordoned: true}", StrandedBy.CORDON, 8_000, id="cordoned"),
        pytest.param("{name: a, shape: dgx-h100, others: {cpus: 80}}", StrandedBy.CPU, 4_000, id="CPU for four"),
        pytest.param(
            "{name: a, shape: dgx-h100, others: {memory: 1920Gi}}", StrandedBy.MEMORY, 6_000, id="memory for two"
        ),
        pytest.param(
            "{name: a, shape: a100-pcie-bridged, others: {gpus: [0, 2, 3]}}",
            StrandedBy.NVLINK,
            1_000,
            id="a bridge parted",
        ),
        pytest.param(
            "{name: a, shape: l40s-pcie8, others: {gpus: [0, 2, 3]}}", StrandedBy.NVLINK, 0, id="nothing to part"
        ),
    ],
)
def test_stranded_gpus_by_cause(nodes: str, cause: StrandedBy, milli: int) -> None:
    found = stranded(world(nodes), PerGpu(cpu=8_000, memory=64 * GI))
    assert {c: int(amount.sum()) for c, amount in found.items() if amount.any()} == ({cause: milli} if milli else {})


def test_rest_of_a_shared_gpu_is_stranded_if_nobody_wants_so_little() -> None:
    jobs = "[{name: j, queue: q, gpu_fraction: 0.8, running: {worker-0: {node: a, gpus: [0]}}}]"
    snapshot = world("{name: a, shape: dgx-h100}", jobs)
    assert stranded(snapshot, mix=((TaskShape(1, 250), 1.0),))[StrandedBy.SHARE].tolist() == [200]
    assert stranded(snapshot, mix=((TaskShape(1, 200), 1.0),))[StrandedBy.SHARE].tolist() == [0]


def test_each_free_gpu_is_stranded_once() -> None:
    nodes = "{name: a, shape: a100-pcie-bridged, unhealthy_gpus: [1], others: {gpus: [2], cpus: 108, memory: 1000Gi}}"
    found = stranded(world(nodes), PerGpu(cpu=8_000, memory=8 * GI))
    assert sum(int(amount.sum()) for amount in found.values()) <= 7_000
    assert found[StrandedBy.HEALTH].tolist() == [1_000]


def test_fragments_of_the_mix_shown_to_people() -> None:
    snapshot = world("{name: a, shape: dgx-h100, others: {gpus: [0, 1]}}, {name: b, shape: dgx-h100, cordoned: true}")
    mix = ((TaskShape(8, 1000), 0.5), (TaskShape(1, 1000), 0.5), (TaskShape(0, 0), 9.0))
    assert fragments(snapshot, mix) == pytest.approx([3_000, 0])
    assert free_milli(snapshot).tolist() == [6_000, 0]


def test_mix_of_a_snapshot_counts_workers_that_need_gpus() -> None:
    jobs = ("workers: 3, gpus: 8", "gpu_fraction: 0.5, cpus: 2", "cpus: 4")
    listed = ", ".join(f"{{name: j{at}, queue: q, {job}}}" for at, job in enumerate(jobs))
    mix = mix_of(world("{name: a, shape: dgx-h100}", f"[{listed}]"))
    assert mix == ((TaskShape(8, 1000), 0.75), (TaskShape(1, 500, 2_000), 0.25))


def test_memory_share_is_a_share_of_the_model() -> None:
    mix = mix_of(world("{name: a, shape: dgx-h100}", "[{name: a, queue: q, gpu_memory: 20Gi}]"))
    assert [task.milli for task, _ in mix] == [250]


def test_empty_cluster() -> None:
    snapshot = world("{name: a, shape: cpu-only}")
    assert sizes(snapshot)[1] == (0, 0)
    assert not np.any(fragments(snapshot, ((TaskShape(1), 1.0),)))
