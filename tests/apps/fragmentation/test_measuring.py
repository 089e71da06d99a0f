"""What a sample says of a cluster whose free GPUs can be counted by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest

from muster.clusters.models import Gpu, Node
from muster.common import clock
from muster.common.models import Event
from muster.cycle.learning import learn, learn_all
from muster.fragmentation.actions import prune_samples, store_sample
from muster.fragmentation.mixes import learned, with_mix
from muster.fragmentation.models import FragmentationSample, LearnedMix
from muster.fragmentation.queries import history, latest_sample
from muster.placements.load import forget, load
from muster.preview.measuring import measure
from muster.preview.tasks import sample, sample_cluster
from muster.workloads.models import Job
from scheduler.model.policy import PlacementPolicy, Point, Policy
from scheduler.registry import plugins_of
from tests.support.builders import GIB, World, make_cluster, make_node, make_world, submit
from tests.support.placing import place

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    forget()
    yield
    forget()


@pytest.fixture
def world() -> World:
    """Three nodes of eight GPUs in two racks; six GPUs of the first are in use."""
    world = make_world()
    for rack in ("r0", "r0", "r1"):
        make_node(world.cluster, domains={"block": "b0", "rack": rack})
    place(submit(world.member, gpus=6, cpus=6, memory="6Gi"), [world.cluster.nodes.first()])
    return world


def test_sizes_and_levels(world: World) -> None:
    found = measure(load(world.cluster.pk))
    assert (found["free_gpus"], found["free_whole_nodes"]) == (18.0, 2)
    assert [(size["gpus"], size["jobs"], size["joined"]) for size in found["fits"]["sizes"]] == [
        (1, 18, 18), (2, 9, 9), (4, 4, 4), (8, 2, 2),
    ]  # fmt: skip
    assert list(found["fits"]["domains"]) == [
        {"level": "cluster", "nodes": 2, "jobs": 1},
        {"level": "block", "nodes": 2, "jobs": 1},
    ]
    assert {one["level"]: one["nodes"] for one in found["fits"]["largest"]} == {"cluster": 2, "block": 2, "rack": 1}


def test_fragmentation_is_what_the_mix_cannot_use(world: World) -> None:
    """Only six-GPU workers are asked for: of two, two, and twice eight free GPUs the two on the first node are of no use."""
    found = measure(load(world.cluster.pk))
    assert (found["mix_from"], found["fragmentation"]) == ("present", round(2 / 18, 4))
    assert found["per_gpu"] == {"cpu_milli": 1000, "memory_bytes": GIB}


def test_stranded_gpus_have_a_cause(world: World) -> None:
    first, second, third = Node.objects.order_by("pk")
    Gpu.objects.filter(node=second, index__lt=2).update(health="unhealthy")
    Node.objects.filter(pk=third.pk).update(cordoned=True)
    Node.objects.filter(pk=first.pk).update(others_cpu_milli=105_000)
    found = measure(load(world.cluster.pk))
    assert {(row["node"], row["cause"]): row["gpus"] for row in found["stranded"]} == {
        (third.pk, "cordon"): 8.0,
        (second.pk, "health"): 2.0,
        (first.pk, "cpu"): 1.0,
    }
    assert found["stranded_gpus"] == 11.0
    assert found["stranded_by"] == {"cordon": 8.0, "cpu": 1.0, "health": 2.0}


def test_what_comes_with_each_gpu_may_be_told(world: World) -> None:
    assert measure(load(world.cluster.pk), cpu=28_000)["fits"]["sizes"][0]["jobs"] == 2 + 4 + 4
    assert measure(load(world.cluster.pk), memory=1024 * GIB)["fits"]["sizes"][0]["jobs"] == 1 + 2 + 2


def test_a_full_cluster_has_no_fragmentation() -> None:
    world = make_world(nodes=1)
    place(submit(world.member, gpus=8), [world.cluster.nodes.get()])
    found = measure(load(world.cluster.pk))
    assert (found["free_gpus"], found["fragmentation"]) == (0.0, None)


def test_a_sample_is_taken_at_most_every_thirty_seconds(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sample()
    sample()
    taken = FragmentationSample.objects.get()
    assert taken.data["free_gpus"] == 18.0
    assert Event.objects.filter(topic=f"cluster/{world.cluster.pk}/fragmentation").count() == 1
    later = clock.now() + dt.timedelta(seconds=31)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert sample_cluster(world.cluster.pk)


def test_a_cluster_without_nodes_gets_none() -> None:
    assert not sample_cluster(make_cluster().pk)


def test_the_mix_is_learned_once_a_day(world: World) -> None:
    now = clock.now()
    submit(world.member, gpus=1, workers=30, cpus=4, memory="8Gi")
    old = submit(world.member, gpus=7, workers=100)
    Job.objects.filter(pk=old.pk).update(submitted_at=now - dt.timedelta(days=9))
    assert learn_all(now) == 1
    assert learn_all(now + dt.timedelta(hours=23)) == 0
    found = learned(world.cluster.pk)
    assert found is not None
    assert [(task.gpus, round(share, 3)) for task, share in found.mix] == [(1, 1.0)]
    assert len(found.usable) == 1001
    assert measure(load(world.cluster.pk))["mix_from"] == "learned"
    assert learn_all(now + dt.timedelta(hours=25)) == 1
    assert LearnedMix.objects.count() == 1


def test_nothing_is_learned_where_nobody_asks_for_gpus() -> None:
    world = make_world(nodes=1)
    submit(world.member)
    assert not learn(world.cluster.pk, clock.now())


def test_the_fragmentation_score_goes_by_what_was_learned(world: World) -> None:
    learn(world.cluster.pk, clock.now())
    policy = with_mix(Policy(placement=PlacementPolicy.FRAGMENTATION), world.cluster.pk)
    [(task, _)] = policy.mix
    assert task.gpus == 6
    assert policy.profile is not None
    used = {use.name: use for use in policy.profile.at(Point.SCORE)}
    assert len(used["fragmentation"].args["phi"]) == 1001
    assert plugins_of(policy).scores
    assert with_mix(Policy(), world.cluster.pk) == Policy()


def test_old_samples_are_thinned_and_let_go(world: World) -> None:
    now = clock.now().replace(minute=0, second=0, microsecond=0)
    for ago in (
        dt.timedelta(days=8),
        *(dt.timedelta(days=2, seconds=30 * n) for n in range(40)),
        dt.timedelta(hours=1),
    ):
        store_sample(world.cluster.pk, now - ago, {})
    assert prune_samples(now) == 1 + 40 - 3
    assert FragmentationSample.objects.count() == 4


def test_history_has_no_more_points_than_a_chart_can_show(world: World) -> None:
    now, data = clock.now(), measure(load(world.cluster.pk))
    FragmentationSample.objects.bulk_create(
        FragmentationSample(cluster=world.cluster, at=now - dt.timedelta(seconds=30 * n), data=data)
        for n in range(1000)
    )
    points = history(world.cluster.pk, 4, now)
    assert 290 <= len(points) <= 301
    assert [point["at"] for point in points] == sorted(point["at"] for point in points)
    last = latest_sample(world.cluster.pk)
    assert last is not None
    assert points[-1] == {
        "at": last.at, "fragmentation": data["fragmentation"], "free_gpus": 18.0, "free_whole_nodes": 2,
        "stranded_gpus": 0.0, "fits": {"1": 18, "2": 9, "4": 4, "8": 2},
    }  # fmt: skip
