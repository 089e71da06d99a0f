"""A whole cycle on real rows: load, plan, commit."""

from typing import Any

import pytest

from muster.clusters.models import Node
from muster.common.models import Change
from muster.cycle.commit import Outcome
from muster.cycle.run import run
from muster.placements.models import JobVerdict, Placement
from muster.workloads.actions import hold_job, release_job
from muster.workloads.models import Attempt, Job
from tests.support.builders import World, make_node, make_quota, make_world, submit
from tests.support.running import bind, held_gpus, see

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(nodes=2)


def cycle(world: World) -> Outcome:
    outcome = run(world.cluster.pk)
    assert outcome is not None
    return outcome


def verdict_of(job: Job) -> str:
    return JobVerdict.objects.get(job=job).verdict.reason


def test_a_gang_is_placed_whole(world: World) -> None:
    job = submit(world.member, workers=4, gpus=2)
    assert cycle(world) == Outcome(committed=1)
    attempt = Attempt.objects.get(job=job)
    assert attempt.state == "creating"
    assert len(held_gpus(attempt)) == 8
    assert [worker.rank for worker in attempt.workers.order_by("pk")] == [0, 1, 2, 3]
    assert attempt.workers.values("node").distinct().count() == 1  # it fits on one host, so it goes on one
    placement = Placement.objects.get()
    assert placement.workers.count() == 4
    job.refresh_from_db()
    assert (job.state, job.state_cause) == ("starting", "commit")
    assert job.state_message.startswith("Starts with 4 workers on n")


def test_a_second_cycle_finds_nothing_to_do(world: World) -> None:
    submit(world.member, gpus=1)
    submit(world.member, gpus=8, workers=5)
    assert cycle(world).committed == 1
    before = (Job.objects.values_list("sched_rev").order_by("pk"), Change.objects.filter(seq=None).count())
    assert cycle(world) == Outcome()
    assert before[1] > 0
    assert not Change.objects.filter(seq=None).exists()


def test_every_waiting_job_has_a_verdict(world: World) -> None:
    make_quota(world.queue, world.cluster, limit=16)
    jobs: dict[str, dict[str, Any]] = {
        "ExceedsCluster": {"workers": 3, "gpus": 8},
        "NoMatchingNodes": {"gpus": "A100:1"},
        "Held": {"gpus": 1, "held": True},
    }
    rows = {reason: submit(world.member, name=reason.lower(), **keys) for reason, keys in jobs.items()}
    rows["placed"] = submit(world.member, workers=2, gpus=8)
    rows["QuotaExceeded"] = submit(world.member, gpus=1)
    cycle(world)
    found = {reason: verdict_of(job) for reason, job in rows.items() if reason != "placed"}
    assert found == {reason: reason for reason in found}
    assert not JobVerdict.objects.filter(job=rows["placed"]).exists()


def test_a_pointer_is_written_only_when_the_reason_changes(world: World) -> None:
    for _ in range(2):
        submit(world.member, gpus=8)
    waiting = submit(world.member, gpus=8)
    cycle(world)
    since = JobVerdict.objects.get(job=waiting).since
    cycle(world)
    assert JobVerdict.objects.get(job=waiting).since == since
    hold_job(world.member, waiting.pk)
    cycle(world)
    assert verdict_of(waiting) == "Held"
    release_job(world.member, waiting.pk)
    cycle(world)
    assert verdict_of(waiting) == "InsufficientGPUs"


def test_devices_given_back_go_to_the_next(world: World) -> None:
    first = [submit(world.member, gpus=8) for _ in range(2)]
    later = submit(world.member, workers=2, gpus=8)
    assert cycle(world).committed == 2
    assert verdict_of(later) == "InsufficientGPUs"
    for job in first:
        attempt = Attempt.objects.get(job=job)
        bind(attempt)
        see(attempt, "running")
        see(attempt, "succeeded")
    assert cycle(world).committed == 1
    later.refresh_from_db()
    assert later.state == "starting"


def test_a_new_node_is_used(world: World) -> None:
    job = submit(world.member, workers=3, gpus=8)
    cycle(world)
    assert verdict_of(job) == "ExceedsCluster"
    node = make_node(world.cluster)
    Change.objects.create(cluster_id=world.cluster.pk, kind="node", object_id=node.pk)
    assert cycle(world).committed == 1
    assert Node.objects.filter(workers__attempt__job=job).distinct().count() == 3
