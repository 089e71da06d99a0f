"""The page: nothing measured yet, a sample with its history, one that is too old."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse

from muster.common import clock
from muster.fragmentation.actions import store_sample
from muster.placements.load import forget, load
from muster.preview.measuring import measure
from tests.support.builders import World, make_node, make_world, submit
from tests.support.placing import place

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> Iterator[World]:
    forget()
    world = make_world()
    for name, rack in (("a", "r0"), ("b", "r0"), ("c", "r1")):
        make_node(world.cluster, name, domains={"rack": rack})
    yield world
    forget()


def page(world: World, query: str = "") -> str:
    client = Client()
    client.force_login(world.viewer)
    answer = client.get(reverse("web:fragmentation") + query)
    assert answer.status_code == 200
    return answer.content.decode()


def sampled(world: World, ago: dt.timedelta = dt.timedelta()) -> None:
    store_sample(world.cluster.pk, clock.now() - ago, measure(load(world.cluster.pk)))


def test_before_the_first_sample_it_says_when_one_comes(world: World) -> None:
    assert "Nothing measured yet" in page(world)


def test_sizes_levels_and_causes(world: World) -> None:
    last = world.cluster.nodes.get(name="c")
    place(submit(world.member, gpus=7), [last])
    world.cluster.nodes.filter(pk=last.pk).update(cordoned=True)
    sampled(world)
    shown = page(world)
    assert "One rack" in shown
    assert "Its node takes no new work." in shown
    assert reverse("web:node", args=[last.pk]) in shown
    assert "A line needs two samples" in shown
    assert "does not answer" not in shown


def test_a_history_has_its_span(world: World) -> None:
    for hours in (100, 5, 1):
        sampled(world, dt.timedelta(hours=hours))
    assert page(world, "?hours=168").count("mu-chart hx-morph-skip-children") == 3
    assert 'aria-label="Free and stranded GPUs over 24 hours"' in page(world, "?hours=nonsense")


def test_an_old_sample_is_told_as_such(world: World) -> None:
    sampled(world, dt.timedelta(minutes=10))
    assert "the process that takes them does not answer" in page(world)


def test_the_overview_tells_it_in_short(world: World) -> None:
    client = Client()
    client.force_login(world.viewer)
    assert "What fits now" not in client.get("/").content.decode()
    sampled(world)
    shown = client.get("/").content.decode()
    assert "What fits now" in shown
    assert "free in one rack" in shown
