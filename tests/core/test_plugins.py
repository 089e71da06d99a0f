"""A plugin of one's own at each extension point that plan() runs, and profiles that are checked before they count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from scheduler import registry
from scheduler.framework import Ask, Candidate, Gang, Rows
from scheduler.model.columns import FloatArray, IntArray
from scheduler.model.jobs import DeviceKind
from scheduler.model.plan import Unit, WorkerPlacement
from scheduler.model.policy import CORE_POINTS, PluginUse, Point, Policy, Profile
from scheduler.model.verdict import Cause, Reason, Verdict
from scheduler.queueing.order import FixedStream
from scheduler.score.bands import Band
from scheduler.world import World
from tests.core.stories import Story, tell

TWO_NODES = """
cluster: {nodes: [{name: a, shape: dgx-h100}, {name: b, shape: dgx-h100}]}
jobs: [{name: first, queue: q, gpus: 2}, {name: second, queue: q, gpus: 2, submitted: 1}]
"""


@dataclass(frozen=True)
class LastFirst:
    def open(self, world: World) -> FixedStream:
        return FixedStream(np.arange(len(world.snapshot.waiting))[::-1])


@dataclass(frozen=True)
class NeverFirst:
    def pre_filter(self, world: World, candidate: Candidate) -> Verdict | None:
        return Verdict(Reason.HELD) if world.snapshot.waiting.name[candidate.row] == "first" else None


@dataclass(frozen=True)
class OneWorkerPerNode:
    cause: ClassVar[Cause] = Cause.EXCLUSIVE
    fixed: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return True

    def room(self, world: World, ask: Ask, rows: Rows) -> IntArray:
        return np.where(world.ledger.used.workers[rows] == 0, 1, 0)


@dataclass(frozen=True)
class Rescue:
    """Starts what found no place, without devices, on the first node."""

    def post_filter(self, world: World, candidate: Candidate, verdict: Verdict) -> list[Unit] | None:
        node = int(world.layout.nodes.key[0])
        return [Unit(candidate.key, (WorkerPlacement("worker", 0, 0, node, DeviceKind.NONE),))]


@dataclass(frozen=True)
class Favourite:
    node: str = "b"

    def pre_score(self, world: World, ask: Ask) -> Any:
        return np.array([name == self.node for name in world.layout.nodes.name])


@dataclass(frozen=True)
class Prepared:
    """Scores what `Favourite` prepared, in figures of its own, and normalizes them."""

    band: ClassVar[Band] = Band.POLICY
    per_count: ClassVar[bool] = False

    def applies(self, ask: Ask) -> bool:
        return True

    def score(self, world: World, ask: Ask, rows: Rows, workers: int) -> FloatArray:
        return np.where(world.prepared["favourite", ask][rows], 7_000.0, -7_000.0)

    def normalize(self, raw: FloatArray) -> FloatArray:
        return (raw + 7_000) / 140


@dataclass(frozen=True)
class Licences:
    """A licence per gang; `left` of them are there."""

    left: int = 1

    def reserve(self, world: World, gang: Gang) -> Gang | Verdict:
        taken = world.notes.get("licences", 0)
        if taken >= self.left:
            return Verdict(Reason.QUOTA_EXCEEDED)
        world.notes["licences"] = taken + 1
        return gang

    def unreserve(self, world: World, gang: Gang) -> None:
        world.notes["licences"] -= 1


@dataclass(frozen=True)
class NotOnA:
    def permit(self, world: World, gang: Gang) -> Verdict | None:
        on_a = any(worker.node == 1 for worker in gang.workers)
        return Verdict(Reason.FRAGMENTED) if on_a else None


@pytest.fixture
def own_plugins() -> Iterator[None]:
    """These plugins are registered for one test."""
    own: list[tuple[Point, str, type]] = [
        (Point.QUEUE_SORT, "lastFirst", LastFirst),
        (Point.PRE_FILTER, "neverFirst", NeverFirst),
        (Point.FILTER, "oneWorkerPerNode", OneWorkerPerNode),
        (Point.POST_FILTER, "rescue", Rescue),
        (Point.PRE_SCORE, "favourite", Favourite),
        (Point.SCORE, "prepared", Prepared),
        (Point.RESERVE, "licences", Licences),
        (Point.PERMIT, "notOnA", NotOnA),
    ]
    for point, name, plugin in own:
        registry.register(point, name, plugin)
    yield
    for point, name, _ in own:
        del registry.CORE[point][name]


def with_plugins(point: Point, *uses: PluginUse, instead: bool = False) -> Profile:
    """The default profile with plugins added at a point, or put in the place of its own."""
    default = registry.default_profile()
    there = () if instead else default.at(point)
    return replace(default, plugins={**default.plugins, point: (*there, *uses)})


def told(profile: Profile, text: str = TWO_NODES) -> Story:
    assert registry.validate(profile) == []
    return tell(text, profile)


@pytest.mark.usefixtures("own_plugins")
class TestOnePluginPerPoint:
    def test_queue_sort(self) -> None:
        story = told(with_plugins(Point.QUEUE_SORT, PluginUse("lastFirst"), instead=True))
        assert story.gpus("second") == [[0, 1]]

    def test_pre_filter(self) -> None:
        story = told(with_plugins(Point.PRE_FILTER, PluginUse("neverFirst")))
        assert (story.reason("first"), story.placed()) == ("Held", ["second"])

    def test_filter(self) -> None:
        story = told(with_plugins(Point.FILTER, PluginUse("oneWorkerPerNode")))
        assert story.nodes("first") + story.nodes("second") == ["a", "b"]

    def test_post_filter(self) -> None:
        full = TWO_NODES.replace("shape: dgx-h100", "shape: dgx-h100, others: {gpus: [0, 1, 2, 3, 4, 5, 6]}")
        story = told(with_plugins(Point.POST_FILTER, PluginUse("rescue")), full)
        assert story.nodes("first") == ["a"]

    def test_pre_score_and_normalized_score(self) -> None:
        profile = with_plugins(Point.PRE_SCORE, PluginUse("favourite"))
        scores = (PluginUse("pack"), PluginUse("prepared", weight=9))
        story = told(replace(profile, plugins={**profile.plugins, Point.SCORE: scores}))
        assert story.nodes("first") + story.nodes("second") == ["b", "b"]

    def test_reserve_is_taken_back_whole(self) -> None:
        uses = (PluginUse("licences", args={"left": 1}),)
        story = told(with_plugins(Point.RESERVE, *uses))
        assert (story.placed(), story.reason("second")) == (["first"], "QuotaExceeded")
        assert story.told["queues"]["q"]["allocated"] == 2

    def test_permit(self) -> None:
        story = told(with_plugins(Point.PERMIT, PluginUse("notOnA")))
        assert (story.placed(), story.reason("first")) == ([], "Fragmented")
        assert story.told["fragmentation"]["free_gpus"] == 16


@pytest.mark.parametrize(
    ("point", "use", "fault"),
    [
        (Point.SCORE, PluginUse("packk"), "there is no plugin packk, known are"),
        (Point.SCORE, PluginUse("idleCpu", args={"least": True}), "idleCpu has no argument least"),
        (Point.SCORE, PluginUse("balanced", weight=0), "balanced has weight 0"),
        (Point.SCORE, PluginUse("pack"), "pack is listed twice"),
        (Point.QUEUE_SORT, PluginUse("priority"), "queueSort needs exactly one plugin"),
        (Point.BIND, PluginUse("nowhere"), "there is no plugin nowhere"),
    ],
)
def test_a_profile_that_cannot_run_is_refused_with_the_reason(point: Point, use: PluginUse, fault: str) -> None:
    profile = with_plugins(point, use)
    assert any(fault in one for one in registry.validate(profile))
    with pytest.raises(registry.ProfileError, match=re.escape(fault)):
        registry.plugins_of(Policy(profile=profile))


def test_every_core_point_has_a_home_in_the_registry() -> None:
    assert set(registry.CORE) == set(CORE_POINTS)
    assert set(registry.EXECUTOR) == set(Point) - set(CORE_POINTS)


def test_the_readmes_plugin_works_as_written() -> None:
    readme = Path(registry.__file__).with_name("README.md").read_text()
    section = readme.split("## Add a plugin in ten minutes")[1]
    code, registration = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)[:2]
    names: dict[str, Any] = {}
    exec(code, names)
    point, name = re.search(r"Point\.(\w+).*?\"(\w+)\": (\w+)", registration, flags=re.DOTALL).groups()[:2]  # type: ignore[union-attr]
    registry.register(Point[point], name, names["QuietRacks"])
    try:
        story = told(with_plugins(Point.SCORE, PluginUse(name, weight=50, args={"label": "noise"})), NOISY)
    finally:
        del registry.CORE[Point[point]][name]
    assert story.nodes("j") == ["quiet"]


NOISY = """
cluster: {nodes: [{name: loud, shape: dgx-h100, labels: {noise: high}}, {name: quiet, shape: dgx-h100}]}
jobs: [{name: j, queue: q, gpus: 1}]
"""


def test_weights_count_within_a_band_and_never_across() -> None:
    # Spread outweighs pack; but link quality stands in a band above both, whatever their weights.
    heavy = with_plugins(Point.SCORE, PluginUse("spread", weight=100))
    half_used = TWO_NODES.replace("name: a, shape: dgx-h100", "name: a, shape: dgx-h100, others: {gpus: [0]}")
    assert tell(half_used, heavy).nodes("first") == ["b"]
    islands = """
cluster:
  nodes: [{name: full, shape: a100-two-islands, others: {gpus: [0, 1, 4]}}, {name: empty, shape: a100-pcie-bridged}]
jobs: [{name: four, queue: q, gpus: 3, gpu: {model: [A100-80GB]}}]
"""
    assert tell(islands, heavy).nodes("four") == ["full"]
