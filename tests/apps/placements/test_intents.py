"""Leases: who may work on an intent, for how long, and what others see meanwhile."""

import datetime as dt

import pytest

from muster.clusters.models import Node
from muster.common import clock
from muster.placements.actions import (
    LeaseLost,
    cancel_job,
    claim_intents,
    finish_intent,
    give_back_intents,
    record_created,
    refuse_placement,
    renew_lease,
    retry_intent,
)
from muster.placements.models import NodeOrder, Placement, Stop
from tests.support.builders import World, make_world, submit
from tests.support.running import claim, start

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(nodes=1)


@pytest.fixture
def placement(world: World) -> Placement:
    """Claimed."""
    start(submit(world.member, gpus=1), [Node.objects.get()])
    return claim(world.cluster.pk)


def expire(placement: Placement) -> None:
    Placement.objects.filter(pk=placement.pk).update(lease_until=clock.now() - dt.timedelta(seconds=1))


def test_a_claim_is_mine_for_a_minute(world: World, placement: Placement) -> None:
    assert claim_intents(world.cluster.pk, [Placement], limit=5) == []
    assert placement.lease_until is not None
    assert dt.timedelta(seconds=55) < placement.lease_until - clock.now() <= dt.timedelta(seconds=60)


def test_after_it_another_takes_over_and_i_must_stop(world: World, placement: Placement) -> None:
    expire(placement)
    taken = claim(world.cluster.pk)
    assert taken.pk == placement.pk
    assert taken.tries == 2
    assert not renew_lease(placement)
    for step in (
        lambda: finish_intent(placement),
        lambda: retry_intent(placement, "late"),
        lambda: record_created(placement, {}),
        lambda: refuse_placement(placement, "late"),
    ):
        with pytest.raises(LeaseLost):
            step()
    assert renew_lease(taken)


def test_a_cancel_ends_the_placing_at_the_next_chunk(world: World, placement: Placement) -> None:
    assert renew_lease(placement)
    cancel_job(placement.attempt.job, world.member)
    assert not renew_lease(placement)


def test_retrying_backs_off(world: World, placement: Placement) -> None:
    retry_intent(placement, "the API server is down")
    assert claim_intents(world.cluster.pk, [Placement], limit=5) == []
    row = Placement.objects.get()
    assert (row.state, row.last_error, row.lease_token) == ("todo", "the API server is down", None)
    assert dt.timedelta(seconds=1) < row.next_try - clock.now() <= dt.timedelta(seconds=2)


def test_giving_back_is_due_at_once(world: World, placement: Placement) -> None:
    give_back_intents([placement])
    assert claim(world.cluster.pk).tries == 1


def test_kinds_are_taken_in_their_order_up_to_the_limit(world: World) -> None:
    node = Node.objects.get()
    for _ in range(3):
        start(submit(world.member, gpus=1), [node])
    NodeOrder.objects.create(cluster=world.cluster, node=node, verb="cordon", next_try=clock.now())
    claimed = claim_intents(world.cluster.pk, [NodeOrder, Placement, Stop], limit=3)
    assert [type(one) for one in claimed] == [NodeOrder, Placement, Placement]


def test_what_is_not_due_or_of_another_cluster_is_left(world: World) -> None:
    start(submit(world.member, gpus=1), [Node.objects.get()])
    assert claim_intents(world.cluster.pk + 1, [Placement], limit=5) == []
    Placement.objects.update(next_try=clock.now() + dt.timedelta(minutes=1))
    assert claim_intents(world.cluster.pk, [Placement], limit=5) == []
