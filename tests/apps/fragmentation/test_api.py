"""Fragmentation over REST: the last sample, its history, and what fits at this instant."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from muster.common import clock
from muster.fragmentation import fitting
from muster.fragmentation.actions import store_sample
from muster.placements.load import forget, load
from muster.preview import asking
from muster.preview.measuring import measure
from tests.support.builders import World, make_user, make_world
from tests.support.contract import client

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> Iterator[World]:
    forget()
    yield make_world(nodes=2)
    fitting.register(asking.fits)
    forget()


def address(world: World, rest: str = "fragmentation/") -> str:
    return f"/api/v1/clusters/{world.cluster.pk}/{rest}"


def test_the_last_sample(world: World) -> None:
    assert client(world.viewer).get(address(world)).status_code == 404
    at = clock.now()
    store_sample(world.cluster.pk, at, measure(load(world.cluster.pk)))
    told = client(world.viewer).get(address(world)).json()
    assert (told["free_gpus"], told["free_whole_nodes"], told["fragmentation"]) == (16.0, 2, None)
    assert told["fits"]["sizes"][3] == {"gpus": 8, "jobs": 2, "joined": 2}
    points = client(world.viewer).get(address(world, "fragmentation/history/?hours=1")).json()["points"]
    assert [point["free_gpus"] for point in points] == [16.0]


@pytest.mark.parametrize("query", ["hours=0", "hours=1000", "hours=x"])
def test_a_history_that_cannot_be(world: World, query: str) -> None:
    answer = client(world.viewer).get(address(world, f"fragmentation/history/?{query}"))
    assert answer.status_code == 400
    assert "hours" in answer.json()["fields"]


def test_what_fits_now_is_asked_of_preview(world: World) -> None:
    fitting.register(lambda cluster_id, cpu, memory: measure(load(cluster_id), cpu=cpu, memory=memory))
    told = client(world.viewer).get(address(world, "fits/?cpu_milli=56000")).json()
    assert told["fits"]["sizes"][0]["jobs"] == 4
    assert told["per_gpu"] == {"cpu_milli": 56000, "memory_bytes": 0}


def test_without_anybody_to_answer_it_says_so(world: World) -> None:
    answer = client(world.viewer).get(address(world, "fits/"))
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")


def test_strangers_see_nothing(world: World) -> None:
    for rest in ("fragmentation/", "fragmentation/history/", "fits/"):
        assert client(make_user()).get(address(world, rest)).status_code == 404
