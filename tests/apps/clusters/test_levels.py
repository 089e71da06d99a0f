"""Levels from node labels: every preset on nodes as their owners label them, far to near."""

from __future__ import annotations

from typing import Any

import pytest

from muster.clusters.discovery import Reading
from muster.clusters.levels import BY_NAME, PRESETS, BadLevels, checked_label, checked_levels
from muster.kube.informer.nodes import node_seen

CLIQUE = "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.1"
ZONE = {"topology.kubernetes.io/region": "us-east-2", "topology.kubernetes.io/zone": "us-east-2b"}

# preset: (labels of a node, its domains far to near, its NVLink domain)
NODES: dict[str, tuple[dict[str, str], list[str], str]] = {
    "muster": ({"topology.muster.dev/block": "b0", "topology.muster.dev/rack": "r3"}, ["b0", "r3"], ""),
    "kubernetes": (ZONE, ["us-east-2", "us-east-2b"], ""),
    "kueue": ({"cloud.provider.com/topology-block": "b1", "cloud.provider.com/topology-rack": "r2"}, ["b1", "r2"], ""),
    "gke": (
        {
            "cloud.google.com/gke-accelerator": "nvidia-h100-mega-80gb",
            "cloud.google.com/gce-topology-block": "4f7b",
            "cloud.google.com/gce-topology-subblock": "9c1d",
            "cloud.google.com/gce-topology-host": "e02a",
        },
        ["4f7b", "9c1d", "e02a"],
        "",
    ),
    "eks": (
        {
            **ZONE,
            "topology.k8s.aws/network-node-layer-1": "nn-spine",
            "topology.k8s.aws/network-node-layer-2": "nn-middle",
            "topology.k8s.aws/network-node-layer-3": "nn-leaf",
            "topology.k8s.aws/zone-id": "use2-az2",
        },
        ["nn-spine", "nn-middle", "nn-leaf"],
        "",
    ),
    "eks-4": (
        {f"topology.k8s.aws/network-node-layer-{n}": f"nn-{n}" for n in (1, 2, 3, 4)}
        | {"topology.k8s.aws/ultraserver-id": "us-17"},
        ["nn-1", "nn-2", "nn-3", "nn-4"],
        "us-17",
    ),
    "oci": (
        {
            "oci.oraclecloud.com/rdma.hpc_island_id": "island",
            "oci.oraclecloud.com/rdma.network_block_id": "network",
            "oci.oraclecloud.com/rdma.local_block_id": "local",
            "oci.oraclecloud.com/rdma.host_id": "h1",
        },
        ["island", "network", "local"],
        "",
    ),
    "coreweave": (
        {
            "backend.coreweave.cloud/fabric": "f0",
            "backend.coreweave.cloud/superpod": "s1",
            "backend.coreweave.cloud/leafgroup": "l7",
            "ds.coreweave.com/nvlink.domain": "dh1-r044",
        },
        ["f0", "s1", "l7"],
        "dh1-r044",
    ),
    "topograph": (
        {f"fabric.topograph.run/tier-{n}": f"sw-{n}" for n in (0, 1, 2)} | {"accelerator.topograph.run/domain": "nvl1"},
        ["sw-2", "sw-1", "sw-0"],
        "nvl1",
    ),
    "topograph-0.5": (
        {f"network.topology.nvidia.com/{name}": f"{name}1" for name in ("leaf", "spine", "core")}
        | {"network.topology.nvidia.com/accelerator": "nvl2"},
        ["core1", "spine1", "leaf1"],
        "nvl2",
    ),
    "nvidia-clique": ({"nvidia.com/gpu.clique": CLIQUE}, [], CLIQUE),
}


def node(labels: dict[str, str]) -> dict[str, Any]:
    return {"metadata": {"name": "n", "uid": "u", "labels": labels}, "spec": {}, "status": {}}


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_reads_its_nodes_far_to_near(preset: Any) -> None:
    labels, domains, nvlink_domain = NODES[preset.name]
    seen = node_seen(node(labels), Reading(tuple(checked_levels(preset.as_levels())), preset.nvlink_label))
    assert [seen.domains[name] for name, _ in preset.levels] == domains
    assert seen.nvlink_domain == nvlink_domain
    if preset.nvlink_label:
        checked_label(preset.nvlink_label, field="nvlink_label")


def test_a_node_without_a_levels_label_is_in_none_of_its_domains() -> None:
    seen = node_seen(node({"topology.muster.dev/block": "b0"}), Reading(tuple(BY_NAME["muster"].as_levels())))
    assert seen.domains == {"block": "b0"}


def test_the_label_chosen_for_nvlink_domains_is_the_only_one_read() -> None:
    labels = {"nvidia.com/gpu.clique": CLIQUE, "site/rack": "r9"}
    assert node_seen(node(labels), Reading(nvlink_label="site/rack")).nvlink_domain == "r9"
    assert node_seen(node(labels), Reading(nvlink_label="site/none")).nvlink_domain == ""
    assert node_seen(node(labels), Reading()).nvlink_domain == CLIQUE


RACK = {"name": "rack", "label": "site/rack"}


@pytest.mark.parametrize(
    ("levels", "complaint"),
    [
        ("rack", "list"),
        ([{"name": "rack"}], "name and a label"),
        ([{"name": "Rack 1", "label": "site/rack"}], "no name of a level"),
        ([{"name": "host", "label": "kubernetes.io/hostname"}], "always there"),
        ([{"name": "rack", "label": "not a label"}], "no key of a node label"),
        ([RACK, RACK | {"label": "site/other"}], "Two levels have the name rack"),
        ([RACK, RACK | {"name": "row"}], "Two levels have the label site/rack"),
    ],
)
def test_bad_levels_are_named(levels: Any, complaint: str) -> None:
    with pytest.raises(BadLevels, match=complaint) as caught:
        checked_levels(levels)
    assert "levels" in caught.value.fields
