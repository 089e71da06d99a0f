"""A cluster's profile: faults are named when it is saved, and the cycle decides by it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from muster.clusters.actions import save_cluster
from muster.clusters.models import Cluster
from muster.clusters.profiles import BadProfile, policy_of, with_argument
from muster.kube.executor.plugins.names import NAMES
from muster.kube.executor.plugins.registry import PLUGINS
from muster.placements.load import load
from scheduler.model.bandwidth import MEASURED
from scheduler.model.policy import PlacementPolicy, PluginUse, Point
from scheduler.registry import plugins_of
from tests.support.builders import make_cluster, make_user


@pytest.mark.parametrize(
    ("profile", "complaint"),
    [
        ([], "mapping"),
        ({"placment": "pack"}, "`placment` is neither"),
        ({"placement": "tight"}, "pack, spread, fragmentation"),
        ({"bandwidths": "guessed"}, "nominal, measured"),
        ({"bandwidths": {"rack": 200}}, "no rack, but switch"),
        ({"bandwidths": {"near": "fast"}}, "near is a number of GB/s"),
        ({"bandwidths": {"near": {"gigabytes": 200, "source": "heard"}}}, "near is a number of GB/s"),
        ({"score": "pack"}, "list of plugins"),
        ({"score": ["nosuch"]}, "no plugin nosuch"),
        ({"bind": ["nosuch"]}, "no plugin nosuch"),
        ({"filter": ["pack"]}, "pack is a plugin of score"),
        ({"score": ["hami"]}, "hami is a plugin of bind"),
        ({"score": [{"name": "idleCpu", "args": {"mots": True}}]}, "idleCpu has no argument mots"),
        ({"score": [{"name": "idleCpu", "args": {"most": "yes"}}]}, "idleCpu takes a bool as most"),
        ({"score": [{"name": "pack", "weight": 0}]}, "weight 0"),
        ({"score": [{"name": "pack", "weight": "2"}]}, "whole number"),
        ({"queueSort": []}, "exactly one"),
        ({"score": ["pack", "pack"]}, "twice"),
    ],
)
def test_a_fault_is_named(profile: Any, complaint: str) -> None:
    with pytest.raises(BadProfile) as caught:
        policy_of(profile)
    assert complaint in caught.value.message
    assert caught.value.fields.keys() == {"profile"}


@pytest.mark.parametrize("placement", PlacementPolicy)
def test_every_placement_has_its_plugins(placement: PlacementPolicy) -> None:
    assert plugins_of(policy_of({"placement": placement})).scores


def test_a_clusters_own_bandwidths_keep_their_source() -> None:
    told = {"preset": "measured", "near": 200, "beyond": {"gigabytes": 25, "source": "measured"}}
    speeds = policy_of({"bandwidths": told}).bandwidths
    assert (speeds.near.gigabytes, speeds.near.source) == (200.0, "nominal")
    assert (speeds.beyond.gigabytes, speeds.beyond.source) == (25.0, "measured")
    assert speeds.switch == MEASURED.switch


def test_the_points_of_the_executor_are_known() -> None:
    assert {point: set(names) for point, names in NAMES.items()} == {point: set(own) for point, own in PLUGINS.items()}
    assert policy_of({"postBind": ["events"]}).profile is None


def test_an_argument_learned_elsewhere_fills_in_what_the_profile_leaves_open() -> None:
    learned = (0.0,) * 1001
    policy = with_argument(policy_of({"placement": "fragmentation"}), Point.SCORE, "fragmentation", phi=learned)
    assert policy.profile is not None
    assert PluginUse("fragmentation", 1, {"phi": learned}) in policy.profile.at(Point.SCORE)
    told = policy_of({"score": [{"name": "idleCpu", "args": {"most": True}}]})
    assert with_argument(told, Point.SCORE, "idleCpu", most=False) == told
    assert with_argument(policy_of({}), Point.SCORE, "fragmentation", phi=learned).profile is None


@pytest.mark.django_db
def test_the_cycle_decides_by_it() -> None:
    cluster = make_cluster()
    assert load(cluster.pk, numbering=True).policy.placement == PlacementPolicy.PACK
    cluster.profile = {"placement": "spread", "bandwidths": "measured"}
    save_cluster(None, cluster)
    policy = load(cluster.pk, numbering=True).policy
    assert (policy.placement, policy.bandwidths) == (PlacementPolicy.SPREAD, MEASURED)


@pytest.mark.django_db
def test_the_admin_site_shows_the_fault_and_fills_in_presets() -> None:
    cluster, client = make_cluster(), Client()
    client.force_login(make_user("root", is_staff=True))
    page = reverse("admin:clusters_cluster_change", args=[cluster.pk])
    form = {"name": cluster.name, "title": "", "connection": "file", "kubeconfig_path": "", "scheduler_name": "muster"}
    form |= {"levels": "[]", "nvlink_label": "", "enabled": "on"}
    answer = client.post(page, form | {"profile": '{"filter": ["pack"]}'})
    assert "pack is a plugin of score" in answer.content.decode()
    assert (
        "is no name of a level"
        in client.post(page, form | {"levels": '[{"name": "A B", "label": "a"}]'}).content.decode()
    )
    assert client.post(page, form | {"profile": "", "preset": "coreweave"}).status_code == 302
    saved = Cluster.objects.get()
    assert [level["name"] for level in saved.levels] == ["fabric", "superpod", "leafgroup"]
    assert (saved.nvlink_label, saved.profile) == ("ds.coreweave.com/nvlink.domain", {})
