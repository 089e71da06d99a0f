"""What people do on pages: it is done through actions, and a refusal is said where they were."""

from __future__ import annotations

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from muster.placements.models import NodeOrder
from muster.workloads.choices import JobState
from muster.workloads.models import Job
from tests.support.builders import make_world, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    return make_world(nodes=1)


def client(user) -> Client:
    found = Client()
    found.force_login(user)
    return found


def said(answer) -> str:
    return " ".join(str(message) for message in get_messages(answer.wsgi_request))


@pytest.mark.parametrize(
    ("verb", "before", "after"),
    [
        ("hold", JobState.QUEUED, JobState.HELD),
        ("cancel", JobState.QUEUED, JobState.CANCELLED),
        ("release", JobState.HELD, JobState.QUEUED),
    ],
)
def test_verbs_move_jobs(world, verb, before, after):
    job = submit(world.member, held=before == JobState.HELD)
    answer = client(world.member).post(reverse("web:jobs-change", args=[verb]), {"job": job.pk})
    assert answer.status_code == 302
    job.refresh_from_db()
    assert job.state == after


def test_many_are_cancelled_or_none(world):
    mine, others = submit(world.member), submit(world.tenant_admin)
    answer = client(world.member).post(reverse("web:jobs-change", args=["cancel"]), {"job": [mine.pk, others.pk]})
    assert "another member's" in said(answer)
    assert set(Job.objects.values_list("state", flat=True)) == {JobState.QUEUED}
    client(world.tenant_admin).post(reverse("web:jobs-change", args=["cancel"]), {"job": [mine.pk, others.pk]})
    assert set(Job.objects.values_list("state", flat=True)) == {JobState.CANCELLED}


def test_a_job_is_submitted_once_however_often_the_button_is_pressed(world):
    source = "name: once\nqueue: train\nimage: a/b\ncpus: 1\nmemory: 1Gi\n"
    for _ in range(2):
        answer = client(world.member).post(reverse("web:submit"), {"source": source, "key": "k1"})
        assert answer["Location"] == reverse("web:job", args=[Job.objects.get().pk])


def test_a_refused_submission_keeps_what_was_written(world):
    answer = client(world.member).post(reverse("web:submit"), {"source": "name: x\nqueue: nowhere\n", "key": "k"})
    assert answer.status_code == 400
    assert "queue: nowhere" in answer.content.decode()


def test_the_judgement_names_keys_and_lines(world):
    caller = client(world.member)
    wrong = caller.post(reverse("web:submit-check"), {"source": "name: x\nqueue: train\nimage: a\nworker: 3\n"}).json()
    assert "worker" in wrong["errors"]
    assert wrong["lines"]["worker"] == 4
    right = caller.post(
        reverse("web:submit-check"), {"source": "name: x\nqueue: train\nimage: a\ncpus: 1\nmemory: 1Gi\n"}
    )
    assert right.json()["preview"].startswith("Asks for 1 worker with no GPUs")


def test_a_clone_begins_with_the_file_of_the_job(world):
    job = submit(world.member, name="first", env={"SEED": "7"})
    page = client(world.member).get(reverse("web:submit"), {"clone": job.pk}).content.decode()
    assert "name: first" in page
    assert "SEED" in page


def test_orders_to_nodes_are_for_platform_admins(world):
    node = world.cluster.nodes.get()
    address = reverse("web:node-order", args=[node.pk, "cordon"])
    assert "Only a platform admin" in said(client(world.tenant_admin).post(address))
    assert not NodeOrder.objects.exists()
    client(world.admin).post(address)
    assert NodeOrder.objects.get().verb == "cordon"
    assert "Cordoning" in client(world.admin).get(reverse("web:node", args=[node.pk])).content.decode()


def test_verbs_are_posted(world):
    assert client(world.member).get(reverse("web:jobs-change", args=["cancel"])).status_code == 405
