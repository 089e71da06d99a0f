"""Where the kubelet chooses the devices, a worker is placed only where every choice it could make will do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scheduler.cycle import plan
from scheduler.model.columns import objects
from scheduler.model.hardware import Nic, NodeShape
from scheduler.model.policy import Policy
from scheduler.model.snapshot import Snapshot
from scheduler.scenario.reader import read_scenario
from tests.core.test_snapshot import with_column


def world(node: str, job: str) -> Snapshot:
    return read_scenario(f"""
name: x
cluster: {{nodes: [{{name: n, {node}}}]}}
queues: {{q: {{}}}}
jobs: [{{name: j, queue: q, {job}}}]
""").snapshot


def counting(snapshot: Snapshot) -> Snapshot:
    """The same nodes with a plain device plugin."""
    return replace(snapshot, nodes=with_column(snapshot.nodes, exact=np.zeros(len(snapshot.nodes), dtype=np.bool_)))


@pytest.mark.parametrize(
    ("node", "job", "starts"),
    [
        ("shape: a100-two-islands", "gpus: 4, gpu: {nvlink: required}", False),
        ("shape: a100-two-islands, others: {gpus: [0, 1, 2, 3]}", "gpus: 4, gpu: {nvlink: required}", True),
        ("shape: a100-two-islands, others: {gpus: [0, 1, 2, 3]}", "gpus: 2, gpu: {nvlink: required}", True),
        ("shape: a100-two-islands, others: {gpus: [0, 1, 2, 4]}", "gpus: 2, gpu: {nvlink: required}", False),
        ("shape: dgx-h100", "gpus: 4, gpu: {nvlink: required}", True),
        ("shape: dgx-h100", "gpus: 4, locality: {required: numa}", False),
        ("shape: a100-two-islands", "gpus: 4", True),
        ("shape: dgx-h100", "gpu_fraction: 0.5", False),
        ("shape: dgx-h100", "mig: 1g.10gb", False),
    ],
)
def test_where_the_kubelet_chooses(node: str, job: str, starts: bool) -> None:
    snapshot = world(node, job)
    assert bool(plan(snapshot, Policy(), now=0.0).units)
    assert bool(plan(counting(snapshot), Policy(), now=0.0).units) == starts


def test_an_exclusive_nic_is_given_once() -> None:
    snapshot = world("shape: a100-two-islands", "workers: 3, gpus: 2, nic: required")
    shape: NodeShape = snapshot.nodes.shape[0]
    own = replace(shape, nics=(Nic(0, 0, exclusive=True), Nic(1, 1, exclusive=True)))
    assert plan(snapshot, Policy(), now=0.0).units
    scarce = replace(snapshot, nodes=with_column(snapshot.nodes, shape=objects([own])))
    assert [verdict.reason for verdict in plan(scarce, Policy(), now=0.0).verdicts] == ["TopologyUnsatisfied"]
