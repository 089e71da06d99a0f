"""The demo's rows are made once, whole, and never over what people have changed."""

from __future__ import annotations

import json
import stat

import pytest

from muster.accounts.models import ApiToken, Membership, User
from muster.clusters.choices import Binding
from muster.clusters.models import Cluster, Flavor
from muster.quotas.models import PriorityClass, Queue, Quota
from muster.workloads.actions import submit_job
from muster.workloads.demo.seed import seed
from tests.support.builders import job_file

pytestmark = pytest.mark.django_db


@pytest.fixture
def kubeconfig(tmp_path):
    return tmp_path / "emulator" / "kubeconfig"


def test_the_demo_is_whole(tmp_path, kubeconfig):
    seed(tmp_path, kubeconfig)
    cluster = Cluster.objects.get()
    assert (cluster.name, cluster.pools.get().binding) == ("demo", Binding.EXACT)
    leaves = Queue.objects.exclude(parent=None)
    assert leaves.count() == len(set(leaves.values_list("name", flat=True))) == 6
    assert Membership.objects.count() == 3
    assert PriorityClass.objects.get(is_default=True).name == "normal"
    assert Flavor.objects.filter(name="GB200-192GB").exists()
    top = Quota.objects.get(queue__parent=None, queue__tenant__name="vision")
    assert top.guaranteed == sum(q.guaranteed for q in Quota.objects.filter(queue__parent=top.queue))


def test_people_sign_in_with_the_passwords_that_are_written_and_files_are_private(tmp_path, kubeconfig):
    seed(tmp_path, kubeconfig)
    path = tmp_path / "demo_users.json"
    rows = json.loads(path.read_text())
    assert [row["username"] for row in rows] == ["admin", "vera", "noam", "rosa"]
    assert all(User.objects.get(username=row["username"]).check_password(row["password"]) for row in rows)
    assert {stat.S_IMODE(file.stat().st_mode) for file in (path, tmp_path / "cli.json")} == {0o600}


def test_a_second_run_changes_nothing(tmp_path, kubeconfig):
    seed(tmp_path, kubeconfig)
    Quota.objects.filter(queue__name="train").update(limit=5)
    files = [(tmp_path / name).read_text() for name in ("demo_users.json", "cli.json")]
    seed(tmp_path, kubeconfig)
    assert [(tmp_path / name).read_text() for name in ("demo_users.json", "cli.json")] == files
    assert (Quota.objects.get(queue__name="train").limit, ApiToken.objects.count()) == (5, 1)


def test_lost_files_get_new_secrets(tmp_path, kubeconfig):
    seed(tmp_path, kubeconfig)
    for name in ("demo_users.json", "cli.json"):
        (tmp_path / name).unlink()
    seed(tmp_path, kubeconfig)
    rows = json.loads((tmp_path / "demo_users.json").read_text())
    assert User.objects.get(username="vera").check_password(rows[1]["password"])
    assert ApiToken.objects.get().token_key == json.loads((tmp_path / "cli.json").read_text())["token"][:15]


def test_the_local_user_submits_to_a_bare_queue_name(tmp_path, kubeconfig):
    seed(tmp_path, kubeconfig)
    job = submit_job(User.objects.get(username="admin"), job_file(queue="train"))
    assert job.queue.full_name == "vision/train"


def test_a_real_cluster_counts_devices(tmp_path):
    seed(tmp_path, tmp_path / "kubeconfig")
    assert (Cluster.objects.get().name, Cluster.objects.get().pools.get().binding) == ("default", Binding.COUNT)
