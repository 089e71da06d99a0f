"""What the informer reports, and what of it is written."""

import datetime as dt

import pytest

from muster.clusters.models import Gpu, Node
from muster.common import clock
from muster.common.models import Event
from muster.placements.actions import (
    OrphanSeen,
    WorkerSeen,
    attempts_without_pods,
    live_attempt_ids,
    observe_workers,
    record_orphans,
)
from muster.placements.models import DeviceHold, Orphan, Placement
from muster.workloads.models import Worker
from tests.support.builders import World, make_world, submit
from tests.support.running import bind, held_gpus, run, see, start, uid_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(nodes=1)


@pytest.fixture
def node(world: World) -> Node:
    return Node.objects.get()


def test_what_is_equal_is_not_written(world: World, node: Node) -> None:
    attempt = run(submit(world.member, gpus=1), [node])
    worker = attempt.workers.get()
    Event.objects.all().delete()
    assert observe_workers(world.cluster.pk, [WorkerSeen(worker.pk, uid_of(worker), "running")]) == set()
    assert not Event.objects.exists()
    assert observe_workers(world.cluster.pk, [WorkerSeen(worker.pk, uid_of(worker), "running", is_stopping=True)])


def test_the_last_of_a_batch_wins(world: World, node: Node) -> None:
    attempt = run(submit(world.member, gpus=1), [node])
    worker = attempt.workers.get()
    uid = uid_of(worker)
    observe_workers(world.cluster.pk, [WorkerSeen(worker.pk, uid, "running"), WorkerSeen(worker.pk, uid, "succeeded")])
    worker.refresh_from_db()
    assert worker.phase == "succeeded"


def test_a_pod_of_another_uid_is_not_his(world: World, node: Node) -> None:
    attempt = run(submit(world.member, gpus=1), [node])
    worker = attempt.workers.get()
    assert observe_workers(world.cluster.pk, [WorkerSeen(worker.pk, "another", "failed", exit_code=1)]) == set()


def test_deleting_a_finished_pod_does_not_change_how_it_ended(world: World, node: Node) -> None:
    attempt = run(submit(world.member, gpus=1), [node])
    see(attempt, {0: {"phase": "failed", "exit_code": 1}})
    see(attempt, {0: {"phase": "gone"}})
    worker = attempt.workers.get()
    assert (worker.phase, worker.exit_code) == ("failed", 1)
    assert worker.ended_at is not None


def test_pods_missing_from_a_list_are_gone(world: World, node: Node) -> None:
    lost, kept = run(submit(world.member, gpus=1), [node]), run(submit(world.member, gpus=1), [node])
    later = clock.now() + dt.timedelta(seconds=1)
    uid = uid_of(kept.workers.get())
    assert attempts_without_pods(world.cluster.pk, {uid}, listed_at=later) == {lost.pk}
    assert lost.job.__class__.objects.get(pk=lost.job_id).state == "queued"
    assert attempts_without_pods(world.cluster.pk, {uid}, listed_at=later) == set()


def test_pods_younger_than_the_list_are_not_missed(world: World, node: Node) -> None:
    before = clock.now() - dt.timedelta(seconds=1)
    run(submit(world.member, gpus=1), [node])
    start(submit(world.member, gpus=1), [node])
    assert attempts_without_pods(world.cluster.pk, set(), listed_at=before) == set()


def test_orphans_are_ordered_once(world: World) -> None:
    seen = [OrphanSeen("Pod", "vision", "old-0", "u1"), OrphanSeen("Service", "vision", "old", "u2")]
    assert record_orphans(world.cluster.pk, seen) == 2
    assert record_orphans(world.cluster.pk, seen) == 0
    assert Orphan.objects.count() == 2


def test_objects_are_wanted_while_an_intent_is_open(world: World, node: Node) -> None:
    attempt = run(submit(world.member, gpus=1), [node])
    see(attempt, "succeeded")
    assert attempt.state == "ended"
    assert live_attempt_ids(world.cluster.pk) == {attempt.pk}
    attempt.stops.update(state="done")
    assert live_attempt_ids(world.cluster.pk) == set()


def gpus_of(worker: Worker) -> list[int]:
    """Indices held."""
    held = DeviceHold.objects.filter(worker=worker, state="held")
    return sorted(held.values_list("gpu__index", flat=True))


def test_devices_seen_replace_those_planned(world: World, node: Node) -> None:
    attempt = run(submit(world.member, gpus=2), [node])
    see(attempt, {0: {"phase": "running", "gpus": (6, 7)}})
    assert gpus_of(attempt.workers.get()) == [6, 7]
    assert set(DeviceHold.objects.filter(state="held").values_list("is_observed", flat=True)) == {True}


def test_two_workers_swapped_by_the_kubelet(world: World, node: Node) -> None:
    attempt = run(submit(world.member, gpus=2, workers=2), [node])
    see(attempt, {0: {"phase": "running", "gpus": (2, 3)}, 1: {"phase": "running", "gpus": (0, 1)}})
    first, second = attempt.workers.order_by("pk")
    assert (gpus_of(first), gpus_of(second)) == ([2, 3], [0, 1])


def test_a_planned_hold_gives_way_to_one_seen(world: World, node: Node) -> None:
    attempt = run(submit(world.member, gpus=2, workers=2), [node])
    first, second = attempt.workers.order_by("pk")
    see(attempt, {0: {"phase": "running", "gpus": (1, 2)}})
    assert gpus_of(first) == [1, 2]
    assert gpus_of(second) == [0, 3]
    see(attempt, {1: {"phase": "running", "gpus": (1, 3)}})  # both are seen on 1: the first stands
    assert gpus_of(first) == [1, 2]
    assert len(held_gpus(attempt)) == len(set(held_gpus(attempt))) == 4


def test_holds_of_an_unclaimed_placement(world: World, node: Node) -> None:
    attempt = start(submit(world.member, gpus=1), [node])
    bind(attempt)
    assert Placement.objects.get().finished_at is not None
    assert held_gpus(attempt) == [Gpu.objects.get(node=node, index=0).pk]
