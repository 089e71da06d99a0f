"""Network levels of a cluster: which node label names a node's block, rack, …, and presets for those who label alike.

A cluster's levels are listed far to near (outermost first); `host` is always the innermost and never listed. The multi-node
NVLink domain stands beside them, with a label of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muster.common.errors import Invalid
from scheduler.model.nodes import HOST, NVLINK_DOMAIN

MOST = 16
_NAME = re.compile(r"[a-z0-9]([-_a-z0-9]{0,40}[a-z0-9])?")
_LABEL = re.compile(r"([a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?")

Level = Mapping[str, str]


class BadLevels(Invalid):
    """The network levels cannot be used."""

    code = "bad_levels"


@dataclass(frozen=True, slots=True)
class Preset:
    """How one cloud or tool labels nodes."""

    name: str
    title: str
    levels: tuple[tuple[str, str], ...]
    """(level, label), far to near."""
    nvlink_label: str = ""
    """Names a node's multi-node NVLink domain; empty = whichever known label the node carries."""

    def as_levels(self) -> list[dict[str, str]]:
        """As `Cluster.levels` stores them."""
        return [{"name": name, "label": label} for name, label in self.levels]


PRESETS = (
    Preset(
        "muster",
        "Muster: block, rack",
        (("block", "topology.muster.dev/block"), ("rack", "topology.muster.dev/rack")),
    ),
    Preset(
        "kubernetes",
        "Kubernetes: region, zone",
        (("region", "topology.kubernetes.io/region"), ("zone", "topology.kubernetes.io/zone")),
    ),
    Preset(
        "kueue",
        "Kueue: block, rack",
        (("block", "cloud.provider.com/topology-block"), ("rack", "cloud.provider.com/topology-rack")),
    ),
    Preset(
        "gke",
        "Google GKE: block, subblock, machine",
        (
            ("block", "cloud.google.com/gce-topology-block"),
            ("subblock", "cloud.google.com/gce-topology-subblock"),
            # The physical machine: several nodes, which are virtual, may stand on one.
            ("machine", "cloud.google.com/gce-topology-host"),
        ),
    ),
    Preset(
        "eks",
        "Amazon EKS: network node layers 1 (spine) to 3 (leaf)",
        tuple((f"layer-{n}", f"topology.k8s.aws/network-node-layer-{n}") for n in (1, 2, 3)),
        "topology.k8s.aws/ultraserver-id",
    ),
    Preset(
        "eks-4",
        "Amazon EKS, UltraServers: network node layers 1 (spine) to 4 (leaf)",
        tuple((f"layer-{n}", f"topology.k8s.aws/network-node-layer-{n}") for n in (1, 2, 3, 4)),
        "topology.k8s.aws/ultraserver-id",
    ),
    Preset(
        "oci",
        "Oracle OCI: HPC island, network block, local block",
        (
            ("island", "oci.oraclecloud.com/rdma.hpc_island_id"),
            ("network-block", "oci.oraclecloud.com/rdma.network_block_id"),
            ("local-block", "oci.oraclecloud.com/rdma.local_block_id"),
        ),
    ),
    Preset(
        "coreweave",
        "CoreWeave: fabric, superpod, leaf group",
        tuple((name, f"backend.coreweave.cloud/{name}") for name in ("fabric", "superpod", "leafgroup")),
        "ds.coreweave.com/nvlink.domain",
    ),
    Preset(
        "topograph",
        "NVIDIA Topograph 1: tiers 2 (far) to 0 (near)",
        tuple((f"tier-{n}", f"fabric.topograph.run/tier-{n}") for n in (2, 1, 0)),
        "accelerator.topograph.run/domain",
    ),
    Preset(
        "topograph-0.5",
        "NVIDIA Topograph 0.5: core, spine, leaf",
        tuple((name, f"network.topology.nvidia.com/{name}") for name in ("core", "spine", "leaf")),
        "network.topology.nvidia.com/accelerator",
    ),
    Preset("nvidia-clique", "NVLink domains alone (nvidia.com/gpu.clique)", (), "nvidia.com/gpu.clique"),
)
BY_NAME = {preset.name: preset for preset in PRESETS}


def checked_levels(levels: Any) -> list[dict[str, str]]:
    """The levels as they are stored; raises BadLevels, naming what is wrong."""
    if not isinstance(levels, list) or len(levels) > MOST:
        raise _bad(f"Levels are a list of at most {MOST}, each with a name and a label.")
    for level in levels:
        if not isinstance(level, dict) or set(level) != {"name", "label"}:
            raise _bad(f"A level has a name and a label, not {level!r}.")
        if not isinstance(level["name"], str) or not _NAME.fullmatch(level["name"]):
            raise _bad(f"{level['name']!r} is no name of a level: small letters, digits and dashes.")
        if level["name"] in {HOST, NVLINK_DOMAIN}:
            raise _bad(f"`{level['name']}` is always there and is not listed.")
        checked_label(level["label"], field="levels")
    for part in ("name", "label"):
        values = [level[part] for level in levels]
        if twice := sorted({value for value in values if values.count(value) > 1}):
            raise _bad(f"Two levels have the {part} {twice[0]}.")
    return levels


def checked_label(label: Any, *, field: str) -> str:
    """`label` if it is a label's key; raises BadLevels beside `field`."""
    if not isinstance(label, str) or not _LABEL.fullmatch(label):
        raise _bad(f"{label!r} is no key of a node label.", field=field)
    return label


def domains_of(levels: Sequence[Level], labels: Mapping[str, str]) -> dict[str, str]:
    """Level to domain, for a node with these labels; a level whose label it lacks is left out."""
    return {level["name"]: labels[level["label"]] for level in levels if labels.get(level["label"])}


def _bad(message: str, *, field: str = "levels") -> BadLevels:
    return BadLevels(message, fields={field: [message]})
