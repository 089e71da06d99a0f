"""What a commit writes and what it drops, on plans made by hand."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from muster.clusters.models import Cluster, Gpu, Nic, Node
from muster.common import clock
from muster.common.models import Change, Event
from muster.cycle.commit import Outcome, commit
from muster.placements.actions import cancel_job
from muster.placements.load import Loaded, load
from muster.placements.models import DeviceHold, JobVerdict, Placement, Stop, Verdict
from muster.quotas.models import Queue
from muster.workloads.models import Attempt, Job, JobEvent
from muster.workloads.placed import placement_of
from scheduler.model.jobs import DeviceKind
from scheduler.model.plan import Bottleneck, Plan, Shortfall, Unit, WorkerPlacement
from scheduler.model.plan import Stop as PlannedStop
from scheduler.model.verdict import Reason
from scheduler.model.verdict import Verdict as Decided
from tests.support.builders import World, make_node, make_world, submit
from tests.support.running import hold, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(nodes=2)


@pytest.fixture
def nodes(world: World) -> list[Node]:
    return list(Node.objects.order_by("pk"))


def read(world: World) -> Loaded:
    return load(world.cluster.pk, numbering=True)


def unit(job: Job, node: Node, *, gpus: int = 0b1, **fields: Any) -> Unit:
    """One worker on one node with these GPUs."""
    kind = fields.pop("kind", DeviceKind.WHOLE)
    milli = fields.pop("milli", 0)
    nic = fields.pop("nic", -1)
    quality = fields.pop("quality", 100)
    worker = WorkerPlacement(
        role="worker", index=0, rank=0, node=node.pk, kind=kind, gpus=gpus, milli=milli, nic=nic, quality=quality
    )
    return Unit(job=job.pk, workers=(worker,), **fields)


def plan(loaded: Loaded, *units: Unit, verdicts: Sequence[Decided] = ()) -> Plan:
    """These units; everybody else has the one verdict, if there is one."""
    waiting = loaded.snapshot.waiting.key
    starts = {one.job for one in units}
    verdict_of = np.array([-1 if key in starts or not verdicts else 0 for key in waiting.tolist()], dtype=np.int64)
    return Plan(units=units, verdicts=tuple(verdicts), verdict_of=verdict_of)


def put(loaded: Loaded, *units: Unit, **fields: Any) -> Outcome:
    return commit(loaded, plan(loaded, *units, **fields), clock.now())


def test_everything_of_a_unit_is_written(world: World, nodes: list[Node]) -> None:
    job = submit(world.member, gpus=2)
    Nic.objects.create(node=nodes[0], index=0, name="mlx5_0")
    loaded = read(world)
    Event.objects.all().delete()
    told = {"bottleneck": Bottleneck("rack", 50.0, "nominal"), "shortfalls": (Shortfall("worker", "nvlink", 2, 6, 75),)}
    assert put(loaded, unit(job, nodes[0], gpus=0b110, nic=0, quality=75, **told)) == Outcome(committed=1)
    attempt = Attempt.objects.get()
    assert (attempt.number, attempt.state) == (1, "creating")
    assert attempt.placement_note["bottleneck"] == {"level": "rack", "gigabytes": 50.0, "source": "nominal"}
    worker = attempt.workers.get()
    assert worker.note == "No NVLink group with 2 GPUs free was left to worker on any of 6 nodes."
    shown = placement_of(job)
    assert shown is not None
    assert shown["bottleneck"]["message"] == (
        "Its slowest link is between two racks: 50 GB/s as each GPU sees it, nominal, by data sheets."
    )
    assert (shown["quality"], [one["message"] for one in shown["shortfalls"]]) == (75, [worker.note])
    assert sorted(DeviceHold.objects.values_list("kind", "gpu__index", "nic__index")) == [
        ("nic", None, 0),
        ("whole", 1, None),
        ("whole", 2, None),
    ]
    assert [worker] == list(Placement.objects.get().workers.all())
    assert JobEvent.objects.filter(job=job, kind="starting").count() == 1
    revision = nodes[0].sched_rev
    nodes[0].refresh_from_db()
    assert nodes[0].sched_rev == revision + 1
    assert {("job", job.pk), ("node", nodes[0].pk)} <= set(Change.objects.values_list("kind", "object_id"))
    topics = set(Event.objects.values_list("topic", flat=True))
    assert topics >= {f"job/{job.pk}", f"tenant/{world.tenant.pk}/jobs", f"cluster/{world.cluster.pk}/map", "overview"}


def test_attempts_are_numbered_on(world: World, nodes: list[Node]) -> None:
    job = submit(world.member, gpus=1)
    Attempt.objects.create(job=job, number=4, state="ended")
    assert put(read(world), unit(job, nodes[0])).committed == 1
    assert Attempt.objects.filter(job=job, number=5).exists()


def test_an_older_epoch_throws_the_plan_away(world: World, nodes: list[Node]) -> None:
    job = submit(world.member, gpus=1)
    loaded = read(world)
    Cluster.objects.update(epoch=loaded.epoch + 1)
    assert put(loaded, unit(job, nodes[0])).was_thrown_away
    assert not Attempt.objects.exists()


def test_each_commit_raises_the_epoch(world: World, nodes: list[Node]) -> None:
    loaded = read(world)
    put(loaded)
    assert Cluster.objects.get().epoch == loaded.epoch + 1


@pytest.mark.parametrize("stale", ["job", "node", "queue", "ancestor"])
def test_a_unit_whose_rows_changed_is_dropped_alone(world: World, nodes: list[Node], stale: str) -> None:
    changed, other = submit(world.member, gpus=1), submit(world.member, gpus=1)
    second = Queue.objects.create(tenant=world.tenant, name="other", parent=world.queue.parent)
    Job.objects.filter(pk=other.pk).update(queue=second)
    loaded = read(world)
    if stale == "job":
        cancel_job(changed, world.member)
    elif stale == "node":
        Node.objects.filter(pk=nodes[0].pk).update(sched_rev=100)
    else:
        key = world.queue.pk if stale == "queue" else world.queue.parent_id
        Queue.objects.filter(pk=key).update(sched_rev=100)
    outcome = put(loaded, unit(changed, nodes[0]), unit(other, nodes[1]))
    assert (outcome.committed, outcome.dropped) == ((0, 2) if stale == "ancestor" else (1, 1))
    assert not Attempt.objects.filter(job=changed).exists()
    assert JobVerdict.objects.count() == 0


def test_a_device_that_is_held_drops_only_its_unit(world: World, nodes: list[Node]) -> None:
    taken, other = submit(world.member, gpus=1), submit(world.member, gpus=1)
    running = run(submit(world.member, gpus=1), [nodes[1]])
    loaded = read(world)
    hold(running.workers.get(), [Gpu.objects.get(node=nodes[0], index=0)])  # past every rule: no revision raised
    outcome = put(loaded, unit(taken, nodes[0]), unit(other, nodes[0], gpus=0b10))
    assert (outcome.committed, outcome.dropped) == (1, 1)
    assert Attempt.objects.get(state="creating").job == other


def test_a_plan_that_contradicts_itself_is_thrown_away(world: World, nodes: list[Node]) -> None:
    jobs = [submit(world.member, gpus=1) for _ in range(2)]
    outcome = put(read(world), *(unit(job, nodes[0], nominated=True) for job in jobs))
    assert outcome.was_thrown_away
    assert not Attempt.objects.exists()
    assert Cluster.objects.get().epoch == 0


def test_a_plan_that_gives_a_device_twice_gives_it_once(world: World, nodes: list[Node]) -> None:
    jobs = [submit(world.member, gpus=1) for _ in range(2)]
    outcome = put(read(world), *(unit(job, nodes[0]) for job in jobs))
    assert (outcome.committed, outcome.dropped) == (1, 1)


def test_shares_add_up_to_one_gpu_at_most(world: World, nodes: list[Node]) -> None:
    jobs = [submit(world.member, gpu_fraction=0.5) for _ in range(3)]
    loaded = read(world)
    assert put(loaded, *(unit(job, nodes[0], kind=DeviceKind.SHARE, milli=500) for job in jobs[:2])).committed == 2
    loaded = replace(read(world), node_revisions=dict(Node.objects.values_list("pk", "sched_rev")))
    assert put(loaded, unit(jobs[2], nodes[0], kind=DeviceKind.SHARE, milli=500)).dropped == 1


def test_shares_of_one_plan_are_checked_together(world: World, nodes: list[Node]) -> None:
    jobs = [submit(world.member, gpu_fraction=0.6) for _ in range(2)]
    outcome = put(read(world), *(unit(job, nodes[0], kind=DeviceKind.SHARE, milli=600) for job in jobs))
    assert (outcome.committed, outcome.dropped) == (1, 1)


def test_victims_are_stopped_and_their_devices_kept_for_the_gang(world: World, nodes: list[Node]) -> None:
    victim = run(submit(world.member, gpus=1), [nodes[0]])
    job = submit(world.member, gpus=1)
    stops = (PlannedStop(job=victim.job_id, cause="preempt"),)
    assert put(read(world), unit(job, nodes[0], stops=stops, nominated=True)).committed == 1
    stop = Stop.objects.get()
    assert (stop.attempt, stop.cause, stop.by_job) == (victim, "preempt", job)
    victim.refresh_from_db()
    assert (victim.state, victim.job.__class__.objects.get(pk=victim.job_id).state) == ("stopping", "stopping")
    job.refresh_from_db()
    assert (job.state, Attempt.objects.get(job=job).state) == ("queued", "nominated")
    assert sorted(DeviceHold.objects.values_list("state", flat=True)) == ["held", "nominated"]
    assert Placement.objects.filter(attempt__job=job).count() == 0
    snapshot = read(world).snapshot
    assert job.pk in snapshot.running.key
    assert job.pk not in snapshot.waiting.key


def test_a_dropped_gang_takes_along_those_who_counted_on_what_it_frees(world: World, nodes: list[Node]) -> None:
    victim = run(submit(world.member, gpus=1), [nodes[0]])
    first, second, third = (submit(world.member, gpus=1) for _ in range(3))
    stops = (PlannedStop(job=victim.job_id, cause="reclaim"),)
    loaded = read(world)
    cancel_job(first, world.member)
    outcome = put(
        loaded,
        unit(first, nodes[1], stops=stops, nominated=True),
        unit(second, nodes[0], gpus=0b1, nominated=True),
        unit(third, nodes[1], gpus=0b10),
    )
    assert (outcome.committed, outcome.dropped) == (1, 2)
    assert not Stop.objects.exists()
    assert Attempt.objects.get(state="creating").job == third


def test_a_victim_that_ended_meanwhile_drops_its_unit(world: World, nodes: list[Node]) -> None:
    victim = run(submit(world.member, gpus=1), [nodes[0]])
    job = submit(world.member, gpus=1)
    loaded = read(world)
    cancel_job(victim.job, world.member)
    stops = (PlannedStop(job=victim.job_id, cause="preempt"),)
    assert put(loaded, unit(job, nodes[0], stops=stops, nominated=True)).dropped == 1


def test_jobs_alike_share_a_verdict_whose_figures_follow(world: World) -> None:
    jobs = [submit(world.member, gpus=4) for _ in range(3)]
    put(read(world), verdicts=[Decided(Reason.INSUFFICIENT_GPUS, asked=28_000, free=7_000)])
    verdict = Verdict.objects.get()
    assert "Needs 4 GPUs; 1 GPU is free" in verdict.message
    assert JobVerdict.objects.filter(verdict=verdict).count() == 3
    since = JobVerdict.objects.get(job=jobs[0]).since
    put(read(world), verdicts=[Decided(Reason.INSUFFICIENT_GPUS, asked=28_000, free=14_000)])
    verdict.refresh_from_db()
    assert "2 GPUs are free" in verdict.message
    assert JobVerdict.objects.get(job=jobs[0]).since == since
    put(read(world), verdicts=[Decided(Reason.FRAGMENTED)])
    assert JobVerdict.objects.get(job=jobs[0]).verdict.reason == "Fragmented"
    assert JobVerdict.objects.get(job=jobs[0]).since > since


def test_verdicts_of_jobs_that_wait_no_more_go(world: World, nodes: list[Node]) -> None:
    started, cancelled = submit(world.member, gpus=4), submit(world.member, gpus=4)
    put(read(world), verdicts=[Decided(Reason.FRAGMENTED)])
    cancel_job(cancelled, world.member)
    put(read(world), unit(started, nodes[0], gpus=0b1111))
    assert not JobVerdict.objects.exists()


def test_a_lost_row_of_a_plan_stops_nobody_else(world: World, nodes: list[Node]) -> None:
    job = submit(world.member, gpus=1)
    loaded = read(world)
    Job.objects.filter(pk=job.pk).update(state="cancelled")
    other = make_node(world.cluster)
    assert put(loaded, unit(job, other)).dropped == 1
