"""A bounded stream of simulated jobs, so that there is always something to see."""

from __future__ import annotations

import random
from collections.abc import Sequence

import structlog
import yaml

from muster.accounts.models import User
from muster.common.errors import MusterError
from muster.workloads.actions import submit_job
from muster.workloads.choices import FINAL_JOB_STATES, WAITING_JOB_STATES
from muster.workloads.demo.layout import TENANTS
from muster.workloads.demo.recipes import RECIPES, TOO_LARGE, Recipe
from muster.workloads.models import Job

log = structlog.get_logger(__name__)

MOST_WAITING = 10
MOST_UNFINISHED = 60
PER_STEP = 6
FAILING_SHARE = 0.06
LOG_LINES = 120
PREFIX = "emulator.muster.dev/"


def step(rng: random.Random) -> int:
    """Submit a few jobs where fewer wait than should; how many."""
    people = {user.username: user for user in User.objects.filter(username__in=[tenant.member for tenant in TENANTS])}
    unfinished = Job.objects.filter(owner__in=people.values()).exclude(state__in=FINAL_JOB_STATES)
    running_names = set(unfinished.values_list("name", flat=True))
    too_large = [recipe for recipe in TOO_LARGE if recipe.name not in running_names]
    waiting = unfinished.filter(state__in=WAITING_JOB_STATES).exclude(name__in=[recipe.name for recipe in TOO_LARGE])
    room = min(MOST_WAITING - waiting.count(), MOST_UNFINISHED - len(running_names), PER_STEP)
    chosen = too_large + _choose(rng, RECIPES, max(room, 0))
    return sum(_submit(rng, recipe, people[recipe.owner]) for recipe in chosen if recipe.owner in people)


def _choose(rng: random.Random, recipes: Sequence[Recipe], count: int) -> list[Recipe]:
    return rng.choices(recipes, weights=[recipe.weight for recipe in recipes], k=count)


def _submit(rng: random.Random, recipe: Recipe, owner: User) -> bool:
    """False where it was refused: an administrator may have renamed a queue or taken a member out."""
    try:
        submit_job(owner, job_file(rng, recipe))
    except MusterError as error:
        log.warning("demo.refused", name=recipe.name, error=error.message)
        return False
    return True


def job_file(rng: random.Random, recipe: Recipe) -> str:
    """One job of this kind as a file; some fail, since real ones do."""
    seconds = round(60 * rng.uniform(*recipe.minutes))
    behaviour = {
        "start-delay": rng.randint(1, 6),
        "run-seconds": seconds,
        "log-lines": LOG_LINES,
        "progress": 1000,
        "checkpoint-seconds": rng.randint(2, 8),
    }
    if rng.random() < FAILING_SHARE:
        behaviour |= {"exit-code": 1, "run-seconds": max(seconds // 4, 5)}
    name = recipe.name if recipe in TOO_LARGE else f"{recipe.name}-{rng.randrange(16**4):04x}"
    document = {
        "name": name,
        "queue": recipe.queue,
        "image": "demo/train",
        **recipe.keys,
        "walltime": "2h",
        "checkpoint": {"every": "5m", "grace": "30s"},
        "annotations": {PREFIX + key: str(value) for key, value in behaviour.items()},
    }
    return yaml.safe_dump(document, sort_keys=False)
