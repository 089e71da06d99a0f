"""What the database itself refuses of device holds."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.backends.postgresql.psycopg_any import NumericRange

from muster.clusters.models import Gpu, Node
from muster.placements.models import DeviceHold, Placement, Stop
from muster.workloads.models import Attempt, Worker
from tests.support.builders import World, make_world, submit
from tests.support.running import hold, start

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(nodes=1)


@pytest.fixture
def worker(world: World) -> Worker:
    return start(submit(world.member, gpus=1), [Node.objects.get()]).workers.get()


def gpu(index: int) -> Gpu:
    return Gpu.objects.get(index=index)


def mig(start: int, end: int) -> dict[str, Any]:
    return {"kind": "mig", "slices": NumericRange(start, end)}


def refused(worker: Worker, index: int, **fields: Any) -> bool:
    try:
        with transaction.atomic():
            hold(worker, [gpu(index)], **fields)
    except IntegrityError:
        return True
    return False


def test_one_whole_hold_per_gpu(worker: Worker) -> None:
    assert refused(worker, 0)
    assert not refused(worker, 1)


@pytest.mark.parametrize("other", [{"kind": "share", "milli": 500}, mig(0, 4), {"kind": "slice"}])
def test_kinds_never_meet(worker: Worker, other: dict[str, Any]) -> None:
    assert refused(worker, 0, **other)
    hold(worker, [gpu(1)], **other)
    assert refused(worker, 1)


def test_shares_stand_beside_each_other(worker: Worker) -> None:
    hold(worker, [gpu(1)], kind="share", milli=500)
    assert not refused(worker, 1, kind="share", milli=500)


def test_mig_instances_never_overlap(worker: Worker) -> None:
    hold(worker, [gpu(1)], **mig(0, 4))
    assert refused(worker, 1, **mig(2, 6))
    assert not refused(worker, 1, **mig(4, 8))
    assert refused(worker, 2, kind="mig")


def test_released_holds_are_history(worker: Worker) -> None:
    DeviceHold.objects.update(state="released")
    assert not refused(worker, 0)


def test_a_nomination_stands_beside_its_victims_hold_but_not_beside_another(worker: Worker) -> None:
    assert not refused(worker, 0, state="nominated")
    assert refused(worker, 0, state="nominated")


def test_a_hold_is_of_one_device(worker: Worker) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        DeviceHold.objects.create(worker=worker, kind="whole", since="2026-01-01T00:00:00Z")


def test_a_swap_is_checked_at_its_end_when_deferred(world: World, worker: Worker) -> None:
    first = DeviceHold.objects.get(worker=worker)
    [second] = hold(worker, [gpu(1)])
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS hold_one_whole, hold_kinds_never_meet DEFERRED")
        DeviceHold.objects.filter(pk=first.pk).update(gpu=second.gpu)
        DeviceHold.objects.filter(pk=second.pk).update(gpu=first.gpu)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    with pytest.raises(IntegrityError), transaction.atomic():
        DeviceHold.objects.filter(pk=first.pk).update(gpu=first.gpu)


def test_one_open_placement_and_one_open_stop_per_attempt(worker: Worker) -> None:
    attempt: Attempt = worker.attempt
    columns: dict[str, Any] = {"cluster": attempt.job.cluster, "attempt": attempt, "next_try": "2026-01-01T00:00:00Z"}
    with pytest.raises(IntegrityError), transaction.atomic():
        Placement.objects.create(**columns)
    Stop.objects.create(cause="cancel", **columns)
    with pytest.raises(IntegrityError), transaction.atomic():
        Stop.objects.create(cause="fault", **columns)
    Stop.objects.create(cause="shrink", worker=worker, **columns)


def test_the_database_refuses_states_that_the_table_does_not_hold(worker: Worker) -> None:
    with pytest.raises(Exception, match=r"[Ii]nvalid"), transaction.atomic():
        Attempt.objects.filter(pk=worker.attempt_id).update(state="stopping")
