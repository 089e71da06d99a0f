"""PreBind, Bind and PostBind: one plugin added at each point, by the profile."""

from typing import Any

import pytest

from muster.clusters.models import Node
from muster.kube.errors import Forbidden
from muster.kube.executor.plugins.base import Binding
from muster.kube.executor.plugins.binder import DefaultBinder
from muster.kube.executor.plugins.names import NAMES
from muster.kube.executor.plugins.registry import PLUGINS, MissingPlugin, resolve
from muster.kube.executor.requests import Refused
from muster.kube.gateway import Gateway
from muster.kube.manifests.gang import Member
from muster.kube.resources import EVENTS
from muster.placements.choices import IntentState
from muster.placements.models import Placement
from muster.workloads.choices import JobState
from scheduler.model.policy import Point
from tests.kube.test_executor import reaches
from tests.support.builders import World
from tests.support.kubernetes import eventually
from tests.support.placing import start


class FullMoon:
    """PreBind: refuses as long as its argument says so."""

    def __init__(self, *, refuses: bool = True) -> None:
        self.refuses = refuses

    def pre_bind(self, binding: Binding) -> None:
        if self.refuses:
            raise Refused(f"no {binding.gang.name} at full moon")


class Counting(DefaultBinder):
    """Bind: as usual, and counts."""

    bound = 0

    def bind(self, binding: Binding, member: Member) -> bool:
        type(self).bound += 1
        return super().bind(binding, member)


class Grumbling:
    """PostBind: fails, to no effect."""

    told = 0

    def post_bind(self, binding: Binding) -> None:
        type(self).told = len(binding.members)
        raise Forbidden("no events here")


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    for point, name, plugin in (
        (Point.PRE_BIND, "full-moon", FullMoon),
        (Point.BIND, "counting", Counting),
        (Point.POST_BIND, "grumbling", Grumbling),
    ):
        monkeypatch.setitem(PLUGINS[point], name, plugin)


def profile(world: World, **points: list[Any]) -> None:
    world.cluster.profile = points
    world.cluster.save()


def test_pre_bind_takes_a_gang_back(added: None, world: World, nodes: list[Node]) -> None:
    profile(world, preBind=["nodes", {"name": "full-moon", "args": {"refuses": True}}])
    job = reaches(start(world, nodes, workers=2, gpus=1), JobState.QUEUED)
    assert "at full moon" in job.state_message


def test_bind_and_post_bind_are_called(added: None, world: World, nodes: list[Node]) -> None:
    profile(
        world, preBind=[{"name": "full-moon", "args": {"refuses": False}}], bind=["counting"], postBind=["grumbling"]
    )
    reaches(start(world, nodes, workers=3, gpus=1), JobState.RUNNING)
    assert (Counting.bound, Grumbling.told) == (3, 3)


def test_a_gang_that_no_binder_takes_is_taken_back(world: World, nodes: list[Node]) -> None:
    profile(world, bind=["hami"])
    job = reaches(start(world, nodes, workers=2, gpus=1), JobState.QUEUED)
    assert "No bind plugin" in job.state_message


def test_a_missing_plugin_is_refused_by_name(world: World, nodes: list[Node]) -> None:
    profile(world, bind=["teleport"])
    placement = start(world, nodes, gpus=1)
    with pytest.raises(AssertionError):
        reaches(placement, JobState.RUNNING, seconds=1)
    placement = Placement.objects.get()
    assert placement.state == IntentState.TODO
    assert "'teleport' is not installed" in placement.last_error


def test_profiles_may_name_what_is_installed() -> None:
    """`names` tells it without loading anything; it must not tell another story than the registry."""
    assert {point: set(names) for point, names in NAMES.items()} == {
        point: set(known) for point, known in PLUGINS.items()
    }


@pytest.mark.parametrize("uses", [["nodes", "x"], [{"name": "nodes", "args": {"when": 1}}]])
def test_profiles_are_checked(uses: list[Any]) -> None:
    with pytest.raises(MissingPlugin):
        resolve({"preBind": uses})


def test_events_are_written_on_request(world: World, nodes: list[Node], gateway: Gateway) -> None:
    profile(world, postBind=["events"])
    reaches(start(world, nodes, workers=2, gpus=1), JobState.RUNNING)
    if not served(gateway):
        pytest.skip("this API server has no events.k8s.io")

    def notes() -> list[str]:
        return [item["note"] for items, _version in gateway.pages(EVENTS, world.tenant.namespace) for item in items]

    eventually(lambda: len(notes()) == 2)
    assert all(note.startswith("Successfully assigned vision/") for note in notes())


def served(gateway: Gateway) -> bool:
    from muster.kube.errors import NotFound

    try:
        list(gateway.pages(EVENTS))
    except NotFound:
        return False
    return True
