"""Submitting a job: which rows there are afterwards, and what is refused."""

from __future__ import annotations

import datetime as dt

import pytest

from muster.audit.models import AuditEntry
from muster.common.errors import Forbidden, Invalid
from muster.common.models import Change, Event
from muster.workloads.actions import submit_job
from muster.workloads.choices import JobState
from muster.workloads.errors import KeyReused
from muster.workloads.models import IdempotencyKey, Job, JobShape
from muster.workloads.tasks import prune_keys
from tests.support import builders
from tests.support.builders import GIB, job_file, make_world, submit

pytestmark = pytest.mark.django_db

ALLREDUCE = """\
name: allreduce
queue: train
image: muster/process
command: [python, ring.py]
workers: 4
gpus: 2
"""


def test_all_rows_of_a_submission_are_there():
    world = make_world(nodes=1)
    job = submit_job(world.member, ALLREDUCE)
    assert (job.state, job.tenant, job.queue, job.cluster) == (
        JobState.QUEUED,
        world.tenant,
        world.queue,
        world.cluster,
    )
    assert (job.workers_wanted, job.gpus_wanted, job.source) == (4, 8, ALLREDUCE)
    role = job.roles.get()
    assert (role.name, role.workers, role.min_workers, role.gpus) == ("worker", 4, 4, 2)
    assert [event.kind for event in job.events.all()] == ["submitted"]
    assert Change.objects.filter(cluster_id=world.cluster.pk, kind="job", object_id=job.pk, seq=None).count() == 1
    topics = set(Event.objects.filter(object_id=job.pk, kind="job").values_list("topic", flat=True))
    assert topics == {f"job/{job.pk}", f"tenant/{world.tenant.pk}/jobs"}
    assert AuditEntry.objects.get(verb="job.submit").actor == world.member


def test_unnamed_cores_and_memory_are_the_gpus_share_of_the_smallest_matching_node():
    world = make_world()
    builders.make_node(world.cluster, cpu_milli=112_000, memory_bytes=2048 * GIB)
    builders.make_node(world.cluster, cpu_milli=64_000, memory_bytes=1024 * GIB, others_cpu_milli=800)
    other = builders.make_flavor("L40S-48GB", memory_bytes=48 * GIB)
    builders.make_node(world.cluster, flavor=other, cpu_milli=8_000)
    job = submit_job(world.member, job_file(gpus="H100:2") | {"cpus": 0.5} | {"memory": "8Gi"})
    assert (job.spec["cpus"], job.spec["memory"]) == (0.5, 8 * GIB)
    job = submit_job(world.member, {"name": "a", "queue": "train", "image": "i", "gpus": "H100:2"})
    assert (job.spec["cpus"], job.spec["memory"]) == (15.8, 256 * GIB)
    assert job.roles.get().cpu_milli == 15_800


def test_jobs_that_ask_alike_share_one_shape():
    world = make_world(nodes=1)
    first = submit(world.member, gpus=1, name="a", env={"A": "1"}, retries=2)
    second = submit(world.member, gpus=1, name="b", walltime="1h", priority=7)
    third = submit(world.member, gpus=2)
    assert first.shape == second.shape != third.shape
    assert JobShape.objects.count() == 2
    assert first.shape.body == {"kind": "training", "workers": 1, "gpus": 1, "cpus": 1, "memory": GIB}


def test_roles_are_one_gang_and_keep_their_order():
    world = make_world(nodes=1)
    job = submit_job(
        world.member,
        {
            "name": "mpi",
            "queue": "train",
            "image": "i",
            "roles": [{"name": "launcher", "ends_job": True}, {"name": "worker", "workers": 4, "gpus": 8}],
        },
    )
    launcher, worker = job.roles.all()
    assert (launcher.name, launcher.ends_job, launcher.gpus, launcher.cpu_milli) == ("launcher", True, 0, 1000)
    assert (worker.name, worker.workers, worker.gpus, worker.cpu_milli) == ("worker", 4, 8, 112_000)
    assert (job.gpus_wanted, job.workers_wanted) == (32, 5)


def test_a_bare_name_must_match_one_queue_of_the_submitters_tenants():
    vision, nlp = make_world("vision"), make_world("nlp")
    assert submit(vision.member).tenant == vision.tenant
    builders.Membership.objects.create(user=vision.member, tenant=nlp.tenant)
    with pytest.raises(Invalid, match="nlp/train, vision/train"):
        submit(vision.member)
    assert submit(vision.member, queue="nlp/train").tenant == nlp.tenant


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"queue": "trian"}, "no queue `trian`; did you mean `train`"),
        ({"queue": "nlp/train"}, "no queue `nlp/train`"),
        ({"queue": "vision"}, "takes no jobs, its queues do: train"),
        ({"priority": "urgent"}, "no priority class `urgent`"),
        ({"after": ["nobody"]}, "no job `nobody`"),
        ({"cluster": "mars"}, "no cluster `mars`"),
    ],
)
def test_names_that_mean_nothing_are_refused_and_nothing_is_created(keys, words):
    world = make_world()
    make_world("nlp")
    with pytest.raises(Invalid, match=words):
        submit(world.member, **keys)
    assert not Job.objects.exists()


def test_a_viewer_and_a_stranger_submit_nothing():
    world = make_world()
    with pytest.raises(Forbidden):
        submit(world.viewer)
    with pytest.raises(Invalid, match="no queue"):
        submit(builders.make_user())


def test_priority_comes_from_its_class_or_the_default():
    world = make_world()
    assert submit(world.member).priority == 50
    builders.make_priorities()
    assert submit(world.member, priority="high").priority == 80
    assert submit(world.member).priority_class.name == "normal"
    assert (submit(world.member, priority=-5).priority, submit(world.member, priority=0).priority) == (-5, 0)


def test_the_same_key_gives_the_first_job_and_another_body_is_refused():
    world = make_world()
    first = submit_job(world.member, job_file(), idempotency_key="k")
    assert submit_job(world.member, job_file(), idempotency_key="k") == first
    assert Job.objects.count() == 1
    with pytest.raises(KeyReused):
        submit_job(world.member, job_file(name="other"), idempotency_key="k")
    assert submit_job(world.tenant_admin, job_file(), idempotency_key="k") != first


def test_a_key_is_forgotten_after_a_day():
    world = make_world()
    first = submit_job(world.member, job_file(), idempotency_key="k")
    key = IdempotencyKey.objects.get()
    IdempotencyKey.objects.update(created_at=key.created_at - dt.timedelta(hours=25))
    assert submit_job(world.member, job_file(), idempotency_key="k") != first
    submit_job(world.member, job_file(), idempotency_key="old")
    IdempotencyKey.objects.filter(key="old").update(created_at=key.created_at - dt.timedelta(hours=25))
    prune_keys()
    assert [found.key for found in IdempotencyKey.objects.all()] == ["k"]


def test_what_a_judge_warns_of_stands_in_the_story_and_its_refusal_leaves_nothing():
    world = make_world()
    job = submit_job(world.member, job_file(), judge=lambda draft: f"{draft.spec['name']} can never run.")
    assert job.events.last().message == "job can never run."

    def refuse(_draft):
        raise Invalid("It can never run.")

    with pytest.raises(Invalid):
        submit_job(world.member, job_file(), judge=refuse)
    assert Job.objects.count() == 1


def test_held_after_walltime_retries_and_not_before_become_columns():
    world = make_world()
    first = submit(world.member, name="first", held=True)
    assert first.state == JobState.HELD
    job = submit(world.member, after=["first", first.pk], walltime="90m", retries=3, not_before="2030-01-31T08:00:00Z")
    assert [found.after for found in job.dependencies.all()] == [first]
    assert (job.walltime_seconds, job.retries, job.not_before.isoformat()) == (5400, 3, "2030-01-31T08:00:00+00:00")
