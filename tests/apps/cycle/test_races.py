"""Two connections at once: whoever is late finds out, and nothing is half done."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from celery import current_app
from django.db import connection, transaction

from muster.clusters.models import Cluster, Node
from muster.common import bells, clock
from muster.cycle.commit import commit
from muster.cycle.locks import close_lock_connection, cluster_lock
from muster.cycle.run import run
from muster.cycle.tasks import run_cycle, tick
from muster.placements.actions import cancel_job, claim_intents, finish_intent, observe_workers
from muster.placements.actions.seen import WorkerSeen
from muster.placements.load import load
from muster.placements.models import DeviceHold, Placement, Stop
from muster.workloads.models import Attempt, Job
from scheduler.cycle import plan
from tests.support.builders import World, make_cluster, make_node, make_world, submit
from tests.support.running import bind, held_gpus, uid_of
from tests.support.running import run as run_job

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world() -> World:
    return make_world(nodes=1)


@contextmanager
def beside() -> Iterator[Callable[..., Any]]:
    """Calls run in another thread, on a connection of its own."""

    def call(function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        finally:
            connection.close()
            close_lock_connection()

    with ThreadPoolExecutor(1) as pool:
        yield lambda function, *arguments: pool.submit(call, function, *arguments)


def test_one_cycle_at_a_time_per_cluster(world: World) -> None:
    with cluster_lock(world.cluster.pk) as mine, beside() as run_beside:
        assert mine
        assert run_beside(run, world.cluster.pk).result() is None
        other = make_cluster()
        assert run_beside(run, other.pk).result() is not None
    assert run(world.cluster.pk) is not None


def test_the_lock_outlives_transactions_of_data(world: World) -> None:
    with cluster_lock(world.cluster.pk) as mine, beside() as run_beside:
        assert mine
        with transaction.atomic():
            submit(world.member)
        assert run_beside(run, world.cluster.pk).result() is None


def test_a_broken_lock_connection_is_replaced(world: World) -> None:
    with cluster_lock(world.cluster.pk) as mine:
        assert mine
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    with cluster_lock(world.cluster.pk) as mine:
        assert mine


def test_two_commits_of_one_world(world: World) -> None:
    submit(world.member, gpus=8)
    loaded = load(world.cluster.pk, numbering=True)
    now = clock.now()
    decided = plan(loaded.snapshot, loaded.policy, now.timestamp())
    with beside() as run_beside:
        outcomes = [run_beside(commit, loaded, decided, now) for _ in range(2)]
        results = [outcome.result() for outcome in outcomes]
    assert sorted(result.was_thrown_away for result in results) == [False, True]
    assert Attempt.objects.count() == 1
    assert DeviceHold.objects.filter(state="held").count() == 8


def test_a_cancel_between_plan_and_commit(world: World) -> None:
    job = submit(world.member, gpus=8)
    loaded = load(world.cluster.pk, numbering=True)
    decided = plan(loaded.snapshot, loaded.policy, clock.now().timestamp())
    with beside() as run_beside:
        run_beside(cancel_job, job, world.member).result()
    assert commit(loaded, decided, clock.now()).dropped == 1
    assert Job.objects.get().state == "cancelled"
    assert not Attempt.objects.exists()


def test_a_cancel_while_the_commit_is_under_way_waits_and_then_stops_it(world: World) -> None:
    job = submit(world.member, gpus=8)
    loaded = load(world.cluster.pk, numbering=True)
    decided = plan(loaded.snapshot, loaded.policy, clock.now().timestamp())
    with beside() as run_beside:
        with transaction.atomic():
            assert commit(loaded, decided, clock.now()).committed == 1
            cancelled = run_beside(cancel_job, job, world.member)
            assert not cancelled.done()
        cancelled.result(timeout=10)
    assert Job.objects.get().state == "stopping"
    assert Attempt.objects.get().state == "unwinding"
    assert Stop.objects.count() == 1


def test_devices_given_back_while_a_commit_is_planned(world: World) -> None:
    """Their node's revision has changed, so the unit is dropped; the next cycle takes them."""
    node = Node.objects.get()
    attempt = run_job(submit(world.member, gpus=4), [node])
    submit(world.member, gpus=4)
    loaded = load(world.cluster.pk, numbering=True)
    decided = plan(loaded.snapshot, loaded.policy, clock.now().timestamp())
    worker = attempt.workers.get()
    with beside() as run_beside:
        seen = [WorkerSeen(worker.pk, uid_of(worker), "succeeded")]
        run_beside(observe_workers, world.cluster.pk, seen).result()
    assert commit(loaded, decided, clock.now()).dropped == 1
    outcome = run(world.cluster.pk)
    assert outcome is not None
    assert outcome.committed == 1


def test_a_cancel_and_an_executor_that_finishes_do_not_lock_each_other_out(world: World) -> None:
    job = submit(world.member, gpus=1)
    run(world.cluster.pk)
    [placement] = claim_intents(world.cluster.pk, [Placement], limit=1)
    with beside() as run_beside:
        with transaction.atomic():
            Job.objects.select_for_update().get(pk=job.pk)
            finished = run_beside(finish_intent, placement)
            time.sleep(0.2)
            cancel_job(job, world.member)
        finished.result(timeout=10)
    assert Placement.objects.get().state == "done"
    assert Job.objects.get().state == "cancelled"  # no pod was ever recorded


def test_two_executors_never_claim_the_same(world: World) -> None:
    for _ in range(4):
        submit(world.member, gpus=1)
    run(world.cluster.pk)
    with beside() as run_beside, transaction.atomic():
        mine = claim_intents(world.cluster.pk, [Placement], limit=2)
        theirs = run_beside(lambda: claim_intents(world.cluster.pk, [Placement], limit=4)).result(timeout=10)
    assert len(mine) == len(theirs) == 2
    assert not {one.pk for one in mine} & {one.pk for one in theirs}


def test_settling_from_many_threads_ends_once(world: World) -> None:
    submit(world.member, workers=4, gpus=1)
    run(world.cluster.pk)
    attempt = Attempt.objects.get()
    bind(attempt)
    start = threading.Barrier(4)

    def observe(worker_id: int, uid: str) -> None:
        start.wait(5)
        try:
            observe_workers(world.cluster.pk, [WorkerSeen(worker_id, uid, "succeeded")])
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(observe, worker.pk, uid_of(worker)) for worker in attempt.workers.all()]:
            done.result(timeout=30)
    assert Job.objects.get().state == "succeeded"
    assert held_gpus(attempt) == []
    assert Stop.objects.count() == 1


def test_a_cluster_with_bad_settings_stops_no_other(world: World) -> None:
    bad = make_cluster("bad", profile={"filter": ["nosuch"]})
    make_node(bad)
    job = submit(world.member, gpus=1)
    for cluster_id in (bad.pk, world.cluster.pk):
        run_cycle(cluster_id)
    job.refresh_from_db()
    assert job.state == "starting"


def test_a_tick_sweeps_and_rings_every_enabled_cluster(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    rung: list[int] = []
    monkeypatch.setattr("muster.common.bells.ring_cycle", rung.append)
    off = make_cluster("off", enabled=False)
    tick()
    assert rung == [world.cluster.pk]
    assert off.pk not in rung


def test_a_ring_for_a_cluster_that_is_off_or_gone_is_answered_by_nothing(world: World) -> None:
    submit(world.member, gpus=1)
    Cluster.objects.update(enabled=False)
    for cluster_id in (world.cluster.pk, 10**6):
        run_cycle(cluster_id)
    assert not Attempt.objects.exists()


def test_a_bell_rings_once_until_it_is_answered(world: World) -> None:
    name = f"cycle:{world.cluster.pk}"
    bells.answered(name)
    sent = _sent_by(bells.ring_cycle, world.cluster.pk, times=3)
    assert sent == 1
    assert bells.client().exists(bells.rung_key(name))
    run_cycle(world.cluster.pk)
    assert _sent_by(bells.ring_cycle, world.cluster.pk) == 1


def _sent_by(action: Callable[..., None], *arguments: Any, times: int = 1) -> int:
    """How many messages it puts into the cycle's queue."""
    with current_app.connection_for_read() as broker, broker.SimpleQueue("cycle") as queue:
        queue.clear()
        for _ in range(times):
            action(*arguments)
        return queue.qsize()
