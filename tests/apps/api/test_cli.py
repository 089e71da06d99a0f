"""The client commands against a real server: what they print and the codes they end with."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from django.core.cache import cache

from muster.accounts.actions import create_token
from muster.fragmentation import fitting
from muster.placements.load import load
from muster.preview import asking
from muster.preview.measuring import measure
from muster.workloads.models import Job
from tests.support.builders import make_member, make_node, make_tenant, make_world, submit

SETS = ("--set", "queue=train", "--set", "workers=2", "--set", "gpus=H100:2")
GOOD = "name: train\nqueue: train\nimage: demo/train\nworkers: 2\n"


@pytest.fixture
def world(live_server):
    cache.clear()  # who signed in in an earlier test is not told to wait in this one
    return make_world(nodes=1)


@pytest.fixture
def muster(world, live_server, tmp_path):
    """Run `muster …` as the world's member."""
    _, secret = create_token(world.member, "cli")
    environment = os.environ | {"MUSTER_URL": live_server.url, "MUSTER_TOKEN": secret, "HOME": str(tmp_path)}

    def run(*arguments: str, stdin: str = "", **changes: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "muster.cli.main", *arguments]
        return subprocess.run(
            command, env=environment | changes, input=stdin, capture_output=True, text=True, timeout=60, check=False
        )

    return run


def test_a_job_goes_its_way_on_the_command_line(muster, world, tmp_path):
    file = tmp_path / "train.yaml"
    file.write_text(GOOD)
    done = muster("submit", str(file))
    job = Job.objects.get()
    assert (done.returncode, done.stdout) == (0, f"job {job.pk} train submitted to vision/train\n")
    assert muster("hold", "train").stdout == f"job {job.pk} train: held\n"
    assert json.loads(muster("jobs", "--state", "held", "--json").stdout)[0]["name"] == "train"
    assert "train  vision/train  50        held   0/2" in muster("jobs").stdout
    assert muster("release", str(job.pk)).returncode == 0
    shown = muster("show", "train").stdout
    assert "Submitted to vision/train." in shown
    assert "has not been tried yet" in muster("explain", "train").stdout
    assert muster("cancel", "train").stdout == f"job {job.pk} train: cancelled\n"
    again = muster("cancel", "train")
    assert (again.returncode, "ended already" in again.stderr) == (1, True)


def test_a_bad_file_names_key_line_and_nearest_name_and_ends_with_2(muster, tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text(GOOD + "gpsu: 2\n")
    done = muster("submit", str(file))
    assert done.returncode == 2
    assert done.stderr == f"{file}:5: `gpsu` is not a key of the job file; did you mean `gpus`?\n"
    assert muster("submit", "-", stdin="min_workers: 1\n" + GOOD).returncode == 2
    assert muster("submit", str(tmp_path / "nowhere.yaml")).returncode == 2
    assert not Job.objects.exists()


def test_a_command_is_a_job_without_a_file(muster):
    words = ["--image", "demo/train", *SETS]
    assert muster("submit", *words, "--", "./Train_1.py", "--lr", "0.1").returncode == 0
    job = Job.objects.get()
    assert (job.name, job.workers_wanted, job.gpus_wanted) == ("train-1", 2, 4)
    assert job.spec["command"] == ["./Train_1.py", "--lr", "0.1"]
    assert muster("submit", "--image", "i", "--", "python").returncode == 2
    assert muster("submit", *words, "--set", "wrokers=1", "--", "python").stderr.startswith("command line: `wrokers`")
    assert muster("submit", *words, "--dry-run", "--", "python").stdout == "The job file is good.\n"


def test_strict_without_an_answer_ends_with_3_and_creates_nothing(muster):
    done = muster("submit", "-", "--strict", stdin=GOOD)
    assert (done.returncode, "could not be found out in time" in done.stderr) == (3, True)
    assert not Job.objects.exists()


def test_another_tenants_job_is_not_found(muster, live_server):
    other = make_member(make_tenant("secret"))
    job = submit(other)
    for command in ("show", "cancel", "explain", "hold"):
        done = muster(command, str(job.pk))
        assert (done.returncode, "There is no" in done.stderr) == (1, True)


def test_no_platform_and_no_token_are_one_sentence(muster):
    gone = muster("jobs", MUSTER_URL="http://127.0.0.1:9")
    assert (gone.returncode, gone.stderr.count("\n")) == (3, 1)
    assert muster("jobs", MUSTER_TOKEN="0" * 64).returncode == 4
    assert muster("jobs", MUSTER_URL="").returncode == 4


def test_signing_in_keeps_a_private_token(muster, world, live_server, tmp_path):
    world.member.set_password("right")
    world.member.save()
    user = world.member.username
    done = muster("login", live_server.url, "--username", user, MUSTER_URL="", MUSTER_PASSWORD="right")
    assert done.returncode == 0, done.stderr
    kept = tmp_path / ".config" / "muster" / "login.json"
    assert kept.stat().st_mode & 0o077 == 0
    assert "train" in muster("queues", MUSTER_URL="").stdout
    assert muster("login", live_server.url, "--username", user, MUSTER_PASSWORD="wrong").returncode == 2


def test_queues_and_nodes_are_tables_or_json(muster, world):
    assert muster("queues").stdout.splitlines()[0].split() == [
        "QUEUE",
        "GUARANTEED",
        "LIMIT",
        "USED",
        "RUNNING",
        "WAITING",
    ]
    assert "8 x H100-80GB" in muster("nodes").stdout
    assert len(json.loads(muster("nodes", "--json").stdout)[0]["gpus"]) == 8


def test_what_fits_is_two_tables_or_json(muster, world):
    fitting.register(lambda cluster_id, cpu, memory: measure(load(cluster_id), cpu=cpu, memory=memory))
    make_node(world.cluster)
    try:
        shown = muster("fits").stdout.splitlines()
        assert [line.split() for line in (shown[1], shown[4], shown[-1])] == [
            ["1", "GPU", "16", "—"],
            ["8", "GPU", "2", "2"],
            ["2", "1"],
        ]
        assert json.loads(muster("fits", "--json").stdout)["free_whole_nodes"] == 2
    finally:
        fitting.register(asking.fits)
    assert "does not answer" in muster("fits").stderr
    assert "There is no cluster nosuch." in muster("fits", "--cluster", "nosuch").stderr


def test_the_client_commands_import_no_django():
    modules = ", ".join(f"muster.cli.{name}" for name in ("jobs", "cluster", "fits", "credentials"))
    code = f"import sys, {modules}; print('django' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
