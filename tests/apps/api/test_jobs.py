"""Jobs over HTTP."""

from __future__ import annotations

import pytest

from muster.workloads import judging
from muster.workloads.judging import Finding
from muster.workloads.models import Job
from tests.support.builders import job_file, make_world, submit
from tests.support.contract import PermissionContract, RowsContract, client

JOBS = "/api/v1/jobs/"


class TestJobs(RowsContract):
    path = JOBS

    def make(self, world, count):
        return [submit(world.member, name=f"job-{number}") for number in range(count)]

    def test_filters_by_suffix(self, world):
        self.make(world, 3)
        submit(world.tenant_admin, name="other", held=True, workers=4, gpus=2)
        caller = client(world.member)

        def names(**parameters):
            return sorted(row["name"] for row in self.rows(caller, **parameters))

        assert names(state="held") == ["other"]
        assert names(state=["held", "queued"]) == ["job-0", "job-1", "job-2", "other"]
        assert names(state__n="queued") == ["other"]
        assert names(queue="vision/train", state="held") == names(queue="train", state="held") == ["other"]
        assert names(queue="nlp/train") == names(queue__n="vision/train") == []
        assert names(name__in="job-0,job-2") == ["job-0", "job-2"]
        assert names(name__ic="JOB") == ["job-0", "job-1", "job-2"]
        assert names(gpus__gte=8) == ["other"]
        assert names(started_at__isnull="false") == []
        assert names(q="vision oth") == ["other"]
        assert [row["name"] for row in self.rows(caller, ordering="-gpus,name")] == ["other", "job-0", "job-1", "job-2"]


class TestPermissions(PermissionContract):
    #                                               admin, tenant_admin, member, viewer, stranger, other, anonymous
    table = [
        ("get", "/api/v1/jobs/{pk}/", None, (200, 200, 200, 200, 404, 404, 401)),
        ("get", "/api/v1/jobs/{pk}/events/", None, (200, 200, 200, 200, 404, 404, 401)),
        ("post", "/api/v1/jobs/{pk}/hold/", None, (200, 200, 200, 403, 404, 404, 401)),
        ("post", "/api/v1/jobs/{pk}/priority/", {"priority": 7}, (200, 200, 200, 403, 404, 404, 401)),
    ]

    def make(self, world):
        return submit(world.member).pk


class TestPermissionsOnAnothersJob(PermissionContract):
    table = [
        ("post", "/api/v1/jobs/{pk}/release/", None, (200, 200, 403, 403, 404, 404, 401)),
        ("post", "/api/v1/jobs/{pk}/priority/", {"priority": 7}, (200, 200, 403, 403, 404, 404, 401)),
    ]

    def make(self, world):
        return submit(world.tenant_admin, held=True).pk


@pytest.fixture
def world(db):
    return make_world(nodes=1)


def test_a_job_file_comes_as_json_or_as_yaml(world):
    caller = client(world.member)
    answer = caller.post(JOBS, job_file(name="a"), format="json")
    assert (answer.status_code, answer.json()["name"], answer.json()["source"]) == (201, "a", "")
    text = "name: b\nqueue: train\nimage: demo/train\ngpus: H100:2\n"
    answer = caller.post(JOBS, text, content_type="application/yaml")
    assert (answer.status_code, answer.json()["source"], answer.json()["gpus"]) == (201, text, 2)
    assert answer.json()["capabilities"] == ["clone", "hold", "priority", "cancel"]


def test_a_bad_file_is_refused_with_key_line_and_nearest_name_and_nothing_is_created(world):
    answer = client(world.member).post(
        JOBS, "name: b\nqueue: train\nimage: i\nworkres: 2\n", content_type="application/yaml"
    )
    assert answer.status_code == 400
    assert answer.json()["code"] == "invalid_job"
    problem = answer.json()["details"]["problems"][0]
    assert (problem["key"], problem["line"], problem["nearest"]) == ("workres", 4, "workers")
    assert not Job.objects.exists()


def test_a_key_that_is_not_built_yet_is_refused_by_name(world):
    answer = client(world.member).post(JOBS, job_file(min_workers=1, workers=2), format="json")
    assert (answer.status_code, answer.json()["code"]) == (400, "not_supported_yet")
    assert "min_workers" in answer.json()["fields"]


def test_the_same_idempotency_key_gives_the_first_job(world):
    caller = client(world.member)
    first, second = (caller.post(JOBS, job_file(), format="json", headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert first.json()["id"] == second.json()["id"]
    assert caller.post(JOBS, job_file(name="x"), format="json", headers={"Idempotency-Key": "k"}).status_code == 409


def test_a_dry_run_answers_with_the_canonical_form_and_creates_nothing(world):
    answer = client(world.member).post(f"{JOBS}?dry_run=1", job_file(gpus="H100:2", walltime="1h"), format="json")
    assert answer.status_code == 200
    assert (answer.json()["spec"]["walltime"], answer.json()["spec"]["gpu"], answer.json()["gpus"]) == (
        3600,
        {"model": ["H100"]},
        2,
    )
    assert not Job.objects.exists()


@pytest.fixture
def finding(monkeypatch):
    """What the preview says, in a list of one."""
    said = [None]
    monkeypatch.setattr(judging, "_registered", [lambda _draft: said[0]])
    return said


def test_a_dry_run_says_where_it_would_start(world, finding):
    finding[0] = Finding(can_run=True, nodes={"n1": ["worker-0"]})
    answer = client(world.member).post(f"{JOBS}?dry_run=1", job_file(), format="json")
    assert answer.json()["preview"] == {"can_run": True, "nodes": {"n1": ["worker-0"]}, "reason": "", "message": ""}


def test_an_impossible_job_gets_a_warning_and_strict_refuses_it(world, finding):
    finding[0] = Finding(can_run=False, reason="NoMatchingNodes", message="no node has 64 GPUs.")
    caller = client(world.member)
    answer = caller.post(JOBS, job_file(), format="json")
    assert (answer.status_code, answer.json()["warnings"]) == (
        201,
        ["This job can never run here: no node has 64 GPUs."],
    )
    answer = caller.post(f"{JOBS}?strict=1", job_file(), format="json")
    assert (answer.status_code, answer.json()["code"]) == (400, "impossible")
    assert Job.objects.count() == 1


def test_nothing_is_said_of_a_cluster_whose_nodes_nobody_has_seen(world, finding):
    finding[0] = Finding(can_run=False, message="no node.")
    world.cluster.nodes.update(present=False)
    answer = client(world.member).post(JOBS, job_file(), format="json")
    assert (answer.status_code, answer.json()["warnings"]) == (201, [])


def test_without_an_answer_strict_gets_503_and_others_get_their_job(world, finding):
    caller = client(world.member)
    assert caller.post(f"{JOBS}?strict=1", job_file(), format="json").status_code == 503
    assert caller.post(JOBS, job_file(), format="json").status_code == 201


def test_if_match_of_an_older_version_is_412(world):
    job = submit(world.member)
    caller = client(world.member)
    etag = caller.get(f"{JOBS}{job.pk}/")["ETag"]
    address = f"{JOBS}{job.pk}/priority/"
    assert caller.post(address, {"priority": 60}, format="json", headers={"If-Match": etag}).status_code == 200
    assert caller.post(address, {"priority": 70}, format="json", headers={"If-Match": etag}).status_code == 412
    assert Job.objects.get().priority == 60


def test_holding_and_releasing_obey_the_states(world):
    job = submit(world.member)
    caller = client(world.member)
    assert caller.post(f"{JOBS}{job.pk}/hold/").json()["state"] == "held"
    assert caller.post(f"{JOBS}{job.pk}/hold/").status_code == 409
    assert caller.post(f"{JOBS}{job.pk}/release/").json()["state"] == "queued"


def test_the_request_is_named_in_the_answer_and_in_the_audit(world):
    from muster.audit.models import AuditEntry

    answer = client(world.member).post(JOBS, job_file(), format="json", headers={"X-Request-ID": "abc-1"})
    assert answer["X-Request-ID"] == "abc-1"
    assert AuditEntry.objects.get(verb="job.submit").request_id == "abc-1"


def test_a_body_that_is_no_job_file_has_the_one_shape_of_errors(world):
    caller = client(world.member)
    for body, content_type, status in (
        ("[1]", "application/json", 400),
        ("{", "application/json", 400),
        ("a", "text/csv", 415),
    ):
        answer = caller.post(JOBS, body, content_type=content_type)
        assert answer.status_code == status
        assert set(answer.json()) >= {"code", "message", "fields"}
