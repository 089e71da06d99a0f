"""The snapshot of rows, and that following changes gives the same as building it from nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.clusters.models import Gpu, Node
from muster.clusters.profiles import BadProfile, policy_of
from muster.common import clock
from muster.common.choices import ChangeKind
from muster.common.events import record_changes
from muster.common.models import Change
from muster.cycle.run import run
from muster.placements.actions import cancel_job, fault_attempt, settle
from muster.placements.load import Loaded, forget, load
from muster.placements.load.changes import changes_since, number_changes, prune_changes
from muster.workloads.actions import hold_job, release_job, set_priority
from muster.workloads.choices import FINAL_JOB_STATES
from muster.workloads.models import Attempt, AvoidedNode, Job, JobDependency
from scheduler.model.jobs import DeviceKind, RunState
from scheduler.model.policy import PlacementPolicy
from scheduler.model.resources import PARTS_PER_GPU
from scheduler.model.snapshot import differences
from tests.support.builders import World, make_cluster, make_node, make_quota, make_world, submit
from tests.support.running import run as run_job
from tests.support.running import see, start

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(nodes=2)


def fresh(world: World) -> Loaded:
    """Built from nothing."""
    forget()
    return load(world.cluster.pk, numbering=True)


def test_nodes_with_their_gpus_as_masks(world: World) -> None:
    first, second = Node.objects.order_by("pk")
    Gpu.objects.filter(node=first, index=3).update(health="unhealthy")
    Gpu.objects.filter(node=first, index=4).update(health="dirty")
    Gpu.objects.filter(node=second, index=7).update(others_pod="kube-system/x")
    Node.objects.filter(pk=second.pk).update(
        labels={"disk": "fast", "arch": "amd64"},
        taints=[{"key": "team", "value": "x", "effect": "NoSchedule"}, {"key": "y", "effect": "NoExecute"}],
        domains={"block": "b0", "rack": "r1"},
        cordoned=True,
    )
    nodes = fresh(world).snapshot.nodes
    assert nodes.key.tolist() == [first.pk, second.pk]
    assert nodes.unhealthy.tolist() == [0b11000, 0]
    assert nodes.others_gpus.tolist() == [0, 0b10000000]
    assert nodes.labels[1] == (("arch", "amd64"), ("disk", "fast"))
    assert [(taint.key, taint.value, taint.effect) for taint in nodes.taints[1]] == [
        ("team", "x", "NoSchedule"),
        ("y", "", "NoExecute"),
    ]
    assert nodes.domains[0].tolist() == [-1, -1]
    assert (nodes.domains[1] >= 0).all()
    assert (nodes.cordoned.tolist(), nodes.exact.tolist()) == ([False, True], [True, True])
    assert nodes.shape[0] is nodes.shape[1]
    assert nodes.shape[0].gpu_count == 8


def test_a_lost_node_stays_while_something_of_ours_is_on_it(world: World) -> None:
    node, other = Node.objects.order_by("pk")
    attempt = run_job(submit(world.member, gpus=1), [node])
    Node.objects.update(present=False)
    loaded = fresh(world)
    assert loaded.snapshot.nodes.key.tolist() == [node.pk]
    assert not loaded.snapshot.nodes.ready.any()
    see(attempt, "gone")
    after = load(world.cluster.pk, numbering=True).snapshot
    assert other.pk not in after.nodes.key
    assert not len(after.nodes)
    assert differences(after, fresh(world).snapshot) == ()


def test_jobs_that_wait(world: World) -> None:
    job = submit(world.member, workers=2, gpus="H100:4", walltime="1h", priority=70, topology={"required": "rack"})
    held = submit(world.member, held=True)
    after = submit(world.member)
    JobDependency.objects.create(job=after, after=job)
    node = Node.objects.order_by("pk")[0]
    AvoidedNode.objects.create(job=held, node=node, until="2030-01-01T00:00:00Z")
    waiting = fresh(world).snapshot.waiting
    assert waiting.key.tolist() == [job.pk, held.pk, after.pk]
    assert waiting.priority.tolist() == [70, 50, 50]
    assert waiting.walltime.tolist() == [3600.0, np.inf, np.inf]
    assert waiting.held.tolist() == [False, True, False]
    assert waiting.unmet.tolist() == [False, False, True]
    assert waiting.avoid[1] == frozenset({node.pk})
    [role] = waiting.shape[0].roles
    assert (role.workers, role.devices.kind, role.devices.count) == (2, DeviceKind.WHOLE, 4)
    assert (role.gpu.models, waiting.shape[0].topology.level) == (("H100",), "rack")
    assert waiting.submitted[0] == pytest.approx(job.submitted_at.timestamp(), abs=1e-3)


def test_jobs_that_have_devices(world: World) -> None:
    nodes = list(Node.objects.order_by("pk"))
    attempt = run_job(submit(world.member, workers=2, gpus=2), nodes)
    loaded = fresh(world)
    workers = loaded.snapshot.workers
    assert loaded.snapshot.running.key.tolist() == [attempt.job_id]
    assert loaded.snapshot.running.state.tolist() == [RunState.RUNNING]
    assert workers.node.tolist() == [node.pk for node in nodes]
    assert workers.gpus.tolist() == [0b11, 0b11]
    assert loaded.snapshot.occupancy.free.tolist() == [0b11111100, 0b11111100]
    see(attempt, {0: {"phase": "succeeded"}})
    after = load(world.cluster.pk, numbering=True).snapshot
    assert after.workers.index.tolist() == [1]
    assert after.occupancy.free.tolist() == [0b11111111, 0b11111100]


def test_what_is_stopping_still_holds(world: World) -> None:
    attempt = run_job(submit(world.member, gpus=2), [Node.objects.order_by("pk")[0]])
    cancel_job(attempt.job, world.member)
    snapshot = fresh(world).snapshot
    assert snapshot.running.state.tolist() == [RunState.STOPPING]
    assert len(snapshot.workers) == 1


def test_queues_in_the_units_of_the_core(world: World) -> None:
    make_quota(world.queue, world.cluster, guaranteed=4, limit=8, borrow=2, lend=1, weight=3)
    make_quota(world.queue, world.cluster, resource="cpu", limit=4000)
    make_quota(world.queue, make_cluster(), limit=1)
    queue = next(one for one in fresh(world).snapshot.queues if one.key == world.queue.pk)
    assert queue.guaranteed == {"gpu": 4 * PARTS_PER_GPU}
    assert queue.limit == {"gpu": 8 * PARTS_PER_GPU, "cpu": 4000}
    assert (queue.borrow, queue.lend, queue.weight) == (2 * PARTS_PER_GPU, PARTS_PER_GPU, 3)
    assert (queue.name, queue.parent) == ("vision/train", world.queue.parent_id)


def test_changes_get_gapless_numbers_in_the_order_of_their_rows(world: World) -> None:
    load(world.cluster.pk, numbering=True)
    start_seq = changes_since(world.cluster.pk, 0).seq
    record_changes(world.cluster.pk, ChangeKind.NODE, [5, 6])
    record_changes(make_cluster().pk, ChangeKind.NODE, [7])
    assert load(world.cluster.pk).seq == start_seq  # preview numbers nothing
    assert load(world.cluster.pk, numbering=True).seq == start_seq + 2
    numbered = Change.objects.filter(cluster_id=world.cluster.pk).order_by("id").values_list("seq", flat=True)
    assert list(numbered) == list(range(1, start_seq + 3))


def test_who_missed_pruned_changes_reads_everything(world: World) -> None:
    load(world.cluster.pk, numbering=True)
    record_changes(world.cluster.pk, ChangeKind.NODE, [5, 6, 7])
    number_changes(world.cluster.pk)
    since = changes_since(world.cluster.pk, 0).seq - 3
    assert not changes_since(world.cluster.pk, since).has_gap
    assert prune_changes(clock.now()) > 0
    assert changes_since(world.cluster.pk, since).has_gap
    assert Change.objects.filter(cluster_id=world.cluster.pk).count() == 1  # numbers go on from it


def test_a_difference_is_counted_and_the_new_snapshot_used(world: World) -> None:
    load(world.cluster.pk, numbering=True)
    Node.objects.update(cordoned=True)  # past every rule: no Change
    assert not load(world.cluster.pk, numbering=True).snapshot.nodes.cordoned.any()
    assert load(world.cluster.pk, numbering=True, recheck=True).snapshot.nodes.cordoned.all()


@pytest.mark.parametrize(
    ("profile", "complaint"),
    [
        ({"placment": "pack"}, "placment"),
        ({"placement": "tight"}, "placement"),
        ({"backfill": "yes"}, "backfill"),
        ({"filter": ["nosuch"]}, "nosuch"),
        ({"filter": [{"nome": "x"}]}, "filter"),
    ],
)
def test_a_bad_profile_names_its_fault(profile: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadProfile, match=complaint):
        policy_of(profile)


def test_a_profile() -> None:
    assert policy_of({"placement": "spread"}).placement == PlacementPolicy.SPREAD
    own = policy_of({"score": ["linkQuality", {"name": "pack", "weight": 2}]}).profile
    assert own is not None
    assert [(use.name, use.weight) for use in own.plugins["score"]] == [("linkQuality", 1), ("pack", 2)]  # type: ignore[index]


class Life:
    """A small cluster in which random things happen through the platform's own verbs."""

    def __init__(self) -> None:
        self.world = make_world(nodes=2)
        self.member, self.cluster = self.world.member, self.world.cluster

    def jobs(self, *states: str) -> list[Job]:
        return list(Job.objects.filter(cluster=self.cluster, state__in=states).order_by("pk"))

    def attempts(self) -> list[Attempt]:
        return list(Attempt.objects.filter(job__cluster=self.cluster).exclude(state="ended").order_by("pk"))

    def do(self, step: int, pick: int) -> None:
        verbs: list[Callable[[int], None]] = [
            self.submit, self.cycle, self.cycle, self.see, self.see, self.cancel, self.hold, self.release,
            self.prioritise, self.quota, self.cordon, self.add_node, self.break_gpu, self.fault,
        ]  # fmt: skip
        verbs[step % len(verbs)](pick)

    def submit(self, pick: int) -> None:
        submit(self.member, workers=1 + pick % 3, gpus=pick % 5)

    def cycle(self, pick: int) -> None:
        run(self.cluster.pk)

    def see(self, pick: int) -> None:
        if attempts := self.attempts():
            see(attempts[pick % len(attempts)], ("pending", "running", "succeeded", "gone")[pick % 4])

    def cancel(self, pick: int) -> None:
        if jobs := [job for job in Job.objects.order_by("pk") if job.state not in FINAL_JOB_STATES]:
            cancel_job(jobs[pick % len(jobs)], self.member)

    def hold(self, pick: int) -> None:
        if jobs := self.jobs("queued"):
            hold_job(self.member, jobs[pick % len(jobs)].pk)

    def release(self, pick: int) -> None:
        if jobs := self.jobs("held"):
            release_job(self.member, jobs[pick % len(jobs)].pk)

    def prioritise(self, pick: int) -> None:
        if jobs := self.jobs("queued"):
            set_priority(self.member, jobs[pick % len(jobs)].pk, pick)

    def quota(self, pick: int) -> None:
        self.world.queue.quotas.all().delete()
        make_quota(self.world.queue, self.cluster, limit=pick)
        record_changes(self.cluster.pk, ChangeKind.QUEUE, [self.world.queue.pk])

    def cordon(self, pick: int) -> None:
        node = list(self.cluster.nodes.order_by("pk"))[pick % 2]
        Node.objects.filter(pk=node.pk).update(cordoned=not node.cordoned)
        record_changes(self.cluster.pk, ChangeKind.NODE, [node.pk])

    def add_node(self, pick: int) -> None:
        record_changes(self.cluster.pk, ChangeKind.NODE, [make_node(self.cluster, gpus=4).pk])

    def break_gpu(self, pick: int) -> None:
        gpu = Gpu.objects.filter(node__cluster=self.cluster).order_by("pk")[pick]
        Gpu.objects.filter(pk=gpu.pk).update(health="unhealthy")
        record_changes(self.cluster.pk, ChangeKind.NODE, [gpu.node_id])

    def fault(self, pick: int) -> None:
        if attempts := self.attempts():
            fault_attempt(attempts[pick % len(attempts)].pk, "lost")
            settle(attempts[pick % len(attempts)].pk)


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 15)), min_size=5, max_size=25))
def test_following_changes_equals_building_from_nothing(steps: list[tuple[int, int]]) -> None:
    with transaction.atomic():
        _live(steps)
        transaction.set_rollback(True)


def _live(steps: list[tuple[int, int]]) -> None:
    forget()
    life = Life()
    for number, (step, pick) in enumerate(steps):
        life.do(step, pick)
        if number % 3 == 0:
            load(life.cluster.pk, numbering=True)
    followed = load(life.cluster.pk, numbering=True)
    forget()
    anew = load(life.cluster.pk, numbering=True)
    # Domains are told apart by numbers given as they are met; no test node has any.
    assert differences(followed.snapshot, anew.snapshot) == ()
    assert followed.job_revisions == anew.job_revisions
    assert followed.node_revisions == anew.node_revisions
    assert followed.queue_revisions == anew.queue_revisions


def test_applying_the_same_changes_twice_is_harmless(world: World) -> None:
    before = load(world.cluster.pk, numbering=True).snapshot
    start(submit(world.member, gpus=1), [Node.objects.order_by("pk")[0]])
    after = load(world.cluster.pk, numbering=True).snapshot
    record_changes(world.cluster.pk, ChangeKind.JOB, [Job.objects.get().pk])
    again = load(world.cluster.pk, numbering=True).snapshot
    assert differences(before, after) != ()
    assert differences(after, again) == ()
