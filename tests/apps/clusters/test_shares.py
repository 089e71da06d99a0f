"""What belongs to one GPU of the smallest node that would do, and which flavors a need means."""

from __future__ import annotations

import pytest

from muster.clusters.queries import flavors_for, model_matches, share_of_smallest
from tests.support.builders import GIB, make_cluster, make_flavor, make_node

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("model", "flavor", "matches"),
    [
        ("H100", "H100-80GB", True),
        ("h100-80gb", "H100-80GB", True),
        ("L4", "L40S-48GB", False),
        ("H20", "H200-141GB", False),
        ("A100", "A100-PCIE-80GB", True),
        ("A100-80GB", "A100-PCIE-80GB", False),
    ],
)
def test_a_model_is_a_flavors_name_or_its_beginning_up_to_a_dash(model, flavor, matches):
    assert model_matches(model, flavor) == matches


@pytest.mark.parametrize(
    ("needs", "names"),
    [
        ({}, {"H100-80GB", "L40S-48GB", "MI300X-192GB"}),
        ({"min_memory": 64 * GIB}, {"H100-80GB", "MI300X-192GB"}),
        ({"min_compute_capability": 8.9}, {"H100-80GB", "L40S-48GB"}),
        ({"vendor": "AMD"}, {"MI300X-192GB"}),
        ({"precision": ["fp8"]}, {"H100-80GB"}),
        ({"model": ["L40S", "H100"]}, {"H100-80GB", "L40S-48GB"}),
        ({"min_memory_bandwidth": 2000}, {"H100-80GB"}),
    ],
)
def test_needs_by_feature(needs, names):
    make_flavor("H100-80GB", precisions=["bf16", "fp8"], memory_bandwidth_gbs=3350)
    make_flavor("L40S-48GB", memory_bytes=48 * GIB, compute_capability=89)
    make_flavor("MI300X-192GB", memory_bytes=192 * GIB, compute_capability=None, vendor="amd")
    assert {flavor.name for flavor in flavors_for(needs)} == names


def test_the_poorest_node_that_holds_enough_gpus_decides():
    cluster = make_cluster()
    make_node(cluster, gpus=8, cpu_milli=128_000, memory_bytes=1024 * GIB)
    make_node(cluster, gpus=4, cpu_milli=16_000, memory_bytes=128 * GIB)
    share = share_of_smallest(cluster.pk, {}, gpus=2)
    assert share is not None
    assert (share.cpu_milli, share.memory_bytes) == (4_000, 32 * GIB)
    share = share_of_smallest(cluster.pk, {}, gpus=8)
    assert share is not None
    assert (share.cpu_milli, share.memory_bytes) == (16_000, 128 * GIB)
    assert share_of_smallest(cluster.pk, {"model": ["B200"]}, gpus=1) is None
