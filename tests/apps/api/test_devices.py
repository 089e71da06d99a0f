"""What touches devices and intents, over HTTP: cancel, bulk, workers, verdict, orders to nodes."""

from __future__ import annotations

import pytest

from muster.common import clock
from muster.placements.choices import HoldKind, HoldState, NodeVerb
from muster.placements.models import DeviceHold, JobVerdict, NodeOrder, Verdict
from muster.workloads.models import Attempt, Job, Worker
from tests.support.builders import make_node, make_world, submit
from tests.support.contract import PermissionContract, client

JOBS = "/api/v1/jobs/"


class TestPermissions(PermissionContract):
    #                                         admin, tenant_admin, member, viewer, stranger, other, anonymous
    table = [
        ("get", "/api/v1/jobs/{pk}/workers/", None, (200, 200, 200, 200, 404, 404, 401)),
        ("get", "/api/v1/jobs/{pk}/verdict/", None, (200, 200, 200, 200, 404, 404, 401)),
        ("post", "/api/v1/jobs/{pk}/cancel/", None, (200, 200, 403, 403, 404, 404, 401)),
    ]

    def make(self, world):
        return submit(world.tenant_admin).pk


class TestNodePermissions(PermissionContract):
    table = [
        ("post", "/api/v1/nodes/{pk}/cordon/", None, (202, 403, 403, 403, 404, 403, 401)),
        ("post", "/api/v1/nodes/{pk}/uncordon/", None, (202, 403, 403, 403, 404, 403, 401)),
    ]

    def make(self, world):
        return make_node(world.cluster, gpus=0).pk


@pytest.fixture
def world(db):
    return make_world()


def test_cancelling_a_waiting_job_ends_it_at_once_and_only_once(world):
    job = submit(world.member)
    caller = client(world.member)
    assert caller.post(f"{JOBS}{job.pk}/cancel/").json()["state"] == "cancelled"
    assert caller.post(f"{JOBS}{job.pk}/cancel/").json()["code"] == "already_ended"


def test_bulk_is_all_or_nothing(world):
    mine, theirs = submit(world.member), submit(world.tenant_admin)
    caller = client(world.member)
    answer = caller.post(f"{JOBS}bulk/", {"verb": "hold", "ids": [mine.pk, theirs.pk]}, format="json")
    assert answer.status_code == 403
    assert set(Job.objects.values_list("state", flat=True)) == {"queued"}
    body = {"ids": [mine.pk, theirs.pk]}
    caller = client(world.tenant_admin)
    for verb, expected in (("hold", "held"), ("release", "queued"), ("cancel", "cancelled")):
        answer = caller.post(f"{JOBS}bulk/", body | {"verb": verb}, format="json")
        assert {row["state"] for row in answer.json()} == {expected}
    assert caller.post(f"{JOBS}bulk/", body | {"verb": "hold"}, format="json").status_code == 409
    missing = caller.post(f"{JOBS}bulk/", {"verb": "cancel", "ids": [mine.pk, 10**6]}, format="json")
    assert (missing.status_code, "1000000" in missing.json()["message"]) == (404, True)


def test_bulk_priority_needs_a_value_and_other_verbs_take_none(world):
    jobs = [submit(world.member) for _ in range(2)]
    caller, ids = client(world.member), [job.pk for job in jobs]
    assert caller.post(f"{JOBS}bulk/", {"verb": "priority", "ids": ids}, format="json").status_code == 400
    assert caller.post(f"{JOBS}bulk/", {"verb": "hold", "ids": ids, "priority": "1"}, format="json").status_code == 400
    answer = caller.post(f"{JOBS}bulk/", {"verb": "priority", "ids": ids, "priority": "-3"}, format="json")
    assert {row["priority"] for row in answer.json()} == {-3}


def test_workers_show_rank_node_and_devices(world):
    node = make_node(world.cluster, gpus=4)
    job = submit(world.member, gpus=2)
    attempt = Attempt.objects.create(job=job)
    worker = Worker.objects.create(attempt=attempt, role=job.roles.get(), index=0, rank=0, node=node)
    for gpu in list(node.gpus.all())[2:]:
        DeviceHold.objects.create(gpu=gpu, worker=worker, kind=HoldKind.WHOLE, state=HoldState.HELD, since=clock.now())
    [row] = client(world.viewer).get(f"{JOBS}{job.pk}/workers/").json()
    assert (row["name"], row["rank"], row["node"], row["attempt"]) == ("worker-0", 0, node.name, 1)
    assert [device["index"] for device in row["devices"]] == [2, 3]
    assert client(world.viewer).get(f"{JOBS}{job.pk}/workers/?attempt=2").json() == []
    assert client(world.viewer).get(f"{JOBS}{job.pk}/workers/?attempt=x").status_code == 400


def test_the_verdict_says_why_and_where_in_the_queue(world):
    first, second, urgent = submit(world.member), submit(world.member), submit(world.member, priority=90)
    verdict = Verdict.objects.create(
        cluster=world.cluster,
        shape=second.shape,
        queue=world.queue,
        digest="d",
        reason="QuotaExceeded",
        message="Full.",
    )
    JobVerdict.objects.create(job=second, verdict=verdict, since=clock.now())
    caller = client(world.viewer)
    found = caller.get(f"{JOBS}{second.pk}/verdict/").json()
    assert (found["reason"], found["message"], found["position"]) == ("QuotaExceeded", "Full.", 3)
    assert [caller.get(f"{JOBS}{job.pk}/verdict/").json()["position"] for job in (urgent, first)] == [1, 2]


def test_an_order_to_a_node_is_a_row_and_the_node_waits_for_the_cluster(world):
    node = make_node(world.cluster)
    answer = client(world.admin).post(f"/api/v1/nodes/{node.pk}/cordon/")
    assert (answer.status_code, answer.json()["state"]) == (202, "todo")
    assert NodeOrder.objects.get().verb == NodeVerb.CORDON
    node.refresh_from_db()
    assert not node.cordoned
