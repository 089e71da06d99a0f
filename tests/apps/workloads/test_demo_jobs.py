"""The demo's stream of jobs: valid, mixed, bounded."""

from __future__ import annotations

import random

import pytest

from muster.workloads import spec
from muster.workloads.choices import JobState
from muster.workloads.demo import jobs
from muster.workloads.demo.recipes import RECIPES, TOO_LARGE
from muster.workloads.demo.seed import seed
from muster.workloads.models import Job


def test_every_recipe_is_a_good_job_file():
    rng = random.Random(1)
    for recipe in (*RECIPES, *TOO_LARGE):
        document = spec.read(jobs.job_file(rng, recipe))
        spec.check(document)
        assert document.data["annotations"]["emulator.muster.dev/progress"] == "1000"


@pytest.mark.django_db
def test_jobs_keep_coming_up_to_a_bound(tmp_path):
    seed(tmp_path, tmp_path / "emulator" / "kubeconfig")
    rng = random.Random(1)
    made = [jobs.step(rng) for _ in range(4)]
    large = len(TOO_LARGE)
    assert made == [jobs.PER_STEP + large, jobs.MOST_WAITING - jobs.PER_STEP, 0, 0]
    assert len(set(Job.objects.values_list("tenant__name", flat=True))) == 3
    Job.objects.exclude(name__in=[recipe.name for recipe in TOO_LARGE]).update(state=JobState.STARTING)
    assert jobs.step(rng) == jobs.PER_STEP
    assert Job.objects.filter(name="frontier-run").count() == 1


@pytest.mark.django_db
def test_without_the_demos_people_nothing_is_submitted():
    assert jobs.step(random.Random(1)) == 0
