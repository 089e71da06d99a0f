"""Settling on real rows: states, holds, intents, what the job is told."""

import datetime as dt
from typing import Any

import pytest

from muster.clusters.models import Node
from muster.common.models import Change
from muster.placements.actions import (
    cancel_job,
    claim_intents,
    expire_starts,
    expire_walltimes,
    fault_attempt,
    fault_nodes,
    finish_intent,
    order_node,
    refuse_placement,
    settle,
    settle_live,
    store_log,
)
from muster.placements.actions.stopping import AlreadyEnded
from muster.placements.choices import IntentState
from muster.placements.models import DeviceHold, NodeOrder, Placement, Stop
from muster.workloads.choices import JobState
from muster.workloads.models import Attempt, AvoidedNode, Job, JobDependency
from tests.support.builders import World, make_node, make_world, submit
from tests.support.running import bind, claim, held_gpus, run, see, start

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(nodes=2)


@pytest.fixture
def nodes(world: World) -> list[Node]:
    return list(Node.objects.order_by("pk"))


def gang(world: World, **keys: Any) -> Job:
    """Two workers with two GPUs each."""
    return submit(world.member, workers=2, gpus=2, **keys)


def stop_of(attempt: Attempt) -> Stop:
    [stop] = claim_intents(attempt.job.cluster_id, [Stop], limit=5)
    assert isinstance(stop, Stop)
    assert stop.attempt_id == attempt.pk
    return stop


def test_a_gang_starts_runs_and_succeeds(world: World, nodes: list[Node]) -> None:
    attempt = start(gang(world), nodes)
    bind(attempt)
    assert (attempt.state, attempt.job.state) == ("binding", "starting")
    see(attempt, {0: {"phase": "running"}, 1: {"phase": "pending"}})
    assert attempt.job.state == "starting"
    see(attempt, {1: {"phase": "running"}})
    assert (attempt.state, attempt.job.state) == ("running", "running")
    assert attempt.job.started_at is not None
    assert len(held_gpus(attempt)) == 4
    see(attempt, "succeeded")
    assert (attempt.state, attempt.job.state) == ("ended", "succeeded")
    assert held_gpus(attempt) == []


def test_the_end_orders_a_cleanup(world: World, nodes: list[Node]) -> None:
    attempt = run(gang(world), nodes)
    see(attempt, "succeeded")
    assert stop_of(attempt).cause == "complete"


def test_devices_are_free_as_soon_as_their_pod_is_gone(world: World, nodes: list[Node]) -> None:
    attempt = run(gang(world), nodes)
    revision = nodes[0].sched_rev
    Change.objects.all().delete()
    see(attempt, {0: {"phase": "succeeded"}})
    assert len(held_gpus(attempt)) == 2
    released = DeviceHold.objects.filter(worker__attempt=attempt, state="released")
    assert all(hold.until is not None for hold in released)
    nodes[0].refresh_from_db()
    assert nodes[0].sched_rev == revision + 1
    assert set(Change.objects.values_list("kind", "object_id")) == {
        ("node", nodes[0].pk),
        ("job", attempt.job_id),
    }


def test_settling_again_changes_nothing(world: World, nodes: list[Node]) -> None:
    attempt = run(gang(world), nodes)
    see(attempt, {0: {"phase": "failed", "exit_code": 1, "reason": "Error"}})
    before = (attempt.sched_rev, attempt.job.sched_rev, Change.objects.count(), Stop.objects.count())
    for _ in range(3):
        settle(attempt.pk)
    assert settle_live(world.cluster.pk) == 1
    attempt.refresh_from_db()
    attempt.job.refresh_from_db()
    assert before == (attempt.sched_rev, attempt.job.sched_rev, Change.objects.count(), Stop.objects.count())


def test_one_failed_rank_fails_the_gang_with_its_last_lines(world: World, nodes: list[Node]) -> None:
    attempt = run(gang(world), nodes)
    see(attempt, {1: {"phase": "failed", "exit_code": 3, "reason": "Error"}})
    assert (attempt.state, attempt.job.state) == ("stopping", "stopping")
    stop = stop_of(attempt)
    assert (stop.cause, stop.grace_seconds) == ("own_fault", 30)
    see(attempt, {0: {"phase": "failed", "exit_code": 143}})
    assert attempt.job.state == "stopping"  # its log is not there yet
    failed = attempt.workers.get(exit_code=3)
    store_log(failed, name="logs/1", size=12, is_cut=False, last_lines="step 9\nValueError: no data")
    finish_intent(stop)
    job = Job.objects.get(pk=attempt.job_id)
    assert job.state == "failed"
    assert f"worker-1 (rank 1) on {nodes[1].name} exited with code 3." in job.state_message
    assert "ValueError: no data" in job.state_message


def test_an_own_fault_comes_back_elsewhere_while_retries_remain(world: World, nodes: list[Node]) -> None:
    job = gang(world, retries=1)
    for expected in ("queued", "failed"):
        attempt = run(job, nodes)
        see(attempt, {1: {"phase": "failed", "exit_code": 1}, 0: {"phase": "failed", "exit_code": 1}})
        finish_intent(stop_of(attempt))
        job.refresh_from_db()
        assert job.state == expected
        if expected == "queued":
            assert job.not_before is not None
            assert AvoidedNode.objects.filter(job=job).exists()
    assert job.own_faults == 2


def test_a_fault_of_the_cluster_costs_no_retry(world: World, nodes: list[Node]) -> None:
    attempt = run(gang(world), nodes)
    see(attempt, {1: {"phase": "failed", "exit_code": 137, "reason": "NodeShutdown"}})
    see(attempt, {0: {"phase": "gone"}})
    job = attempt.job
    assert (job.state, job.own_faults, job.unwinds, job.not_before) == ("queued", 0, 0, None)
    assert "NodeShutdown" in job.state_message
    assert list(AvoidedNode.objects.filter(job=job).values_list("node_id", flat=True)) == [nodes[1].pk]


def test_what_the_cluster_refuses_is_taken_back_whole(world: World, nodes: list[Node]) -> None:
    attempt = start(gang(world), nodes)
    placement = claim(world.cluster.pk)
    refuse_placement(placement, "pods is forbidden: exceeded quota", node_id=nodes[0].pk)
    attempt.refresh_from_db()
    assert (attempt.state, Job.objects.get().state) == ("unwinding", "starting")
    assert len(held_gpus(attempt)) == 4
    finish_intent(placement, IntentState.UNDONE)
    job = Job.objects.get()
    assert (job.state, job.unwinds, job.own_faults) == ("queued", 1, 0)
    assert "exceeded quota" in job.state_message
    assert job.not_before is not None
    assert held_gpus(attempt) == []
    assert not Stop.objects.exists()


def test_holds_of_a_refused_gang_stay_until_each_pod_is_gone(world: World, nodes: list[Node]) -> None:
    attempt = start(gang(world), nodes)
    placement = claim(world.cluster.pk)
    see(attempt, {0: {"phase": "pending"}})
    refuse_placement(placement, "refused")
    finish_intent(placement, IntentState.UNDONE)
    assert len(held_gpus(attempt)) == 2
    assert Job.objects.get().state == "starting"
    see(attempt, {0: {"phase": "gone"}})
    assert held_gpus(attempt) == []
    assert Job.objects.get().state == "queued"


def test_the_kubelet_refuses_after_the_binding(world: World, nodes: list[Node]) -> None:
    attempt = start(gang(world), nodes)
    bind(attempt)
    see(attempt, {0: {"phase": "failed", "reason": "OutOfnvidia.com/gpu"}})
    assert (attempt.state, attempt.job.state) == ("unwinding", "starting")
    assert stop_of(attempt).cause == "fault"
    see(attempt, {1: {"phase": "gone"}})
    assert (attempt.job.state, attempt.job.unwinds) == ("queued", 1)


def test_cancelling_a_waiting_job(world: World) -> None:
    job = gang(world)
    assert cancel_job(job, world.member).state == JobState.CANCELLED
    assert not Stop.objects.exists()
    with pytest.raises(AlreadyEnded):
        cancel_job(job, world.member)


def test_cancelling_a_running_job_gives_its_checkpoint_grace(world: World, nodes: list[Node]) -> None:
    attempt = run(gang(world, checkpoint={"grace": "2m"}), nodes)
    assert cancel_job(attempt.job, world.member).state == JobState.STOPPING
    stop = stop_of(attempt)
    assert (stop.cause, stop.by_user, stop.grace_seconds) == ("cancel", world.member, 120)
    see(attempt, "succeeded")
    assert (attempt.state, attempt.job.state) == ("ended", "cancelled")


def test_cancelling_while_pods_are_created(world: World, nodes: list[Node]) -> None:
    attempt = start(gang(world), nodes)
    placement = claim(world.cluster.pk)
    cancel_job(attempt.job, world.member)
    attempt.refresh_from_db()
    assert attempt.state == "unwinding"
    # Nobody deletes while another still creates: the Stop waits for the Placement.
    assert claim_intents(world.cluster.pk, [Stop], limit=5) == []
    finish_intent(placement, IntentState.UNDONE)
    assert Job.objects.get().state == "cancelled"


def test_cancelling_what_is_being_taken_back(world: World, nodes: list[Node]) -> None:
    attempt = start(gang(world), nodes)
    placement = claim(world.cluster.pk)
    refuse_placement(placement, "refused")
    cancel_job(attempt.job, world.member)
    finish_intent(placement, IntentState.UNDONE)
    assert Job.objects.get().state == "cancelled"


def test_cancelling_what_is_stopped_for_a_fault(world: World, nodes: list[Node]) -> None:
    attempt = run(gang(world), nodes)
    fault_attempt(attempt.pk, "The node is lost.")
    cancel_job(attempt.job, world.member)
    see(attempt, "gone")
    assert attempt.job.state == "cancelled"


def test_nodes_that_are_lost_end_the_attempts_on_them(world: World, nodes: list[Node]) -> None:
    hit, spared = run(gang(world), nodes), run(submit(world.member, gpus=1), [nodes[1]])
    assert fault_nodes(world.cluster.pk, [nodes[0].pk], "The node is not ready.") == {hit.pk}
    assert Attempt.objects.get(pk=hit.pk).state == "stopping"
    assert Attempt.objects.get(pk=spared.pk).state == "running"
    assert fault_nodes(world.cluster.pk, [nodes[0].pk], "again") == set()


def test_walltime(world: World, nodes: list[Node]) -> None:
    attempt = run(gang(world, walltime="1h"), nodes)
    run(gang(world), [make_node(world.cluster)])
    started = attempt.job.started_at
    assert started is not None
    assert expire_walltimes(started + dt.timedelta(minutes=59)) == 0
    assert expire_walltimes(started + dt.timedelta(minutes=60)) == 1
    assert stop_of(attempt).cause == "walltime"
    see(attempt, "gone")
    assert attempt.job.state == "failed"
    assert "WalltimeExceeded" in attempt.job.state_message


def test_a_start_that_takes_too_long_is_given_up(world: World, nodes: list[Node]) -> None:
    attempt = start(gang(world), nodes)
    bind(attempt)
    see(attempt, {0: {"phase": "running"}, 1: {"phase": "pending", "reason": "ImagePullBackOff"}})
    assert attempt.bound_at is not None
    assert expire_starts(attempt.bound_at + dt.timedelta(minutes=14)) == 0
    assert expire_starts(attempt.bound_at + dt.timedelta(minutes=15)) == 1
    see(attempt, "gone")
    assert attempt.job.state == "queued"
    assert "ImagePullBackOff" in attempt.job.state_message
    assert AvoidedNode.objects.get().node == nodes[1]


def test_success_makes_dependents_candidates(world: World, nodes: list[Node]) -> None:
    job, later = gang(world), gang(world, name="later")
    JobDependency.objects.create(job=later, after=job)
    attempt = run(job, nodes)
    Change.objects.all().delete()
    see(attempt, "succeeded")
    assert Change.objects.filter(kind="job", object_id=later.pk).exists()


def test_orders_to_nodes(world: World, nodes: list[Node]) -> None:
    order = order_node(nodes[0], "cordon", world.admin)
    assert order_node(nodes[0], "cordon", world.admin) == order
    opposite = order_node(nodes[0], "uncordon", world.admin)
    assert list(NodeOrder.objects.all()) == [opposite]
    nodes[0].refresh_from_db()
    assert not nodes[0].cordoned


def test_a_placement_is_bound_once_and_then_done(world: World, nodes: list[Node]) -> None:
    attempt = start(gang(world), nodes)
    bind(attempt)
    assert Placement.objects.get().state == "done"
    assert attempt.bound_at is not None
    assert set(attempt.workers.values_list("pod_uid", flat=True)) != {""}
