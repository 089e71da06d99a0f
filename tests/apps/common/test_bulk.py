"""Updating many rows by arrays writes what saving each of them would."""

from __future__ import annotations

import datetime as dt

import pytest

from muster.clusters.models import Gpu, Node
from muster.common.bulk import update_rows
from muster.workloads.models import Job
from tests.support.builders import make_cluster, make_flavor, make_node, make_world, submit

pytestmark = pytest.mark.django_db


def test_every_kind_of_column() -> None:
    cluster = make_cluster()
    nodes = [make_node(cluster) for _ in range(3)]
    for number, node in enumerate(nodes):
        node.labels = {"number": str(number), "odd": 'quo"ted'}
        node.taints = [{"key": "a"}] * number
        node.ready = number == 1
        node.cpu_milli = 2**40 + number
        node.pool_id = None
    assert update_rows(nodes[:2], ["labels", "taints", "ready", "cpu_milli", "pool"]) == 2
    stored = list(Node.objects.order_by("pk"))
    assert [node.labels for node in stored[:2]] == [node.labels for node in nodes[:2]]
    assert [node.taints for node in stored] == [[], [{"key": "a"}], []]
    assert [node.ready for node in stored] == [False, True, True]
    assert stored[1].cpu_milli == 2**40 + 1
    assert [node.pool_id is None for node in stored] == [True, True, False]


def test_keys_times_and_nothing() -> None:
    gpus = list(make_node(make_cluster()).gpus.all())
    other = make_flavor("L40S-48GB")
    for gpu in gpus:
        gpu.flavor, gpu.numa, gpu.uuid = other, None, f"GPU-{gpu.index}"
    update_rows(gpus, ["flavor", "numa", "uuid"])
    assert set(Gpu.objects.values_list("flavor__name", "numa")) == {("L40S-48GB", None)}
    job = submit(make_world().member)
    job.not_before = dt.datetime(2030, 1, 2, 3, 4, 5, 678, tzinfo=dt.UTC)
    update_rows([job], ["not_before"])
    assert Job.objects.get().not_before == job.not_before
    assert update_rows([], ["not_before"]) == 0
