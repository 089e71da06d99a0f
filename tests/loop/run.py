"""One survival run on a stage: submit and strike, wait for every end, let the reconciler pass twice, check."""

from __future__ import annotations

import random
import time
from typing import Any

from django.db.models import Sum

from muster.accounts.actions import create_token
from muster.clusters.models import Cluster, ClusterStatus
from muster.workloads.choices import FINAL_JOB_STATES
from muster.workloads.models import Attempt, Job
from tests.loop.blows import Blows
from tests.loop.checks import complaints
from tests.loop.gangs import Gang, Submitter, draw
from tests.support.builders import make_cluster, make_priorities, make_quota, make_world
from tests.support.kubernetes import Faults
from tests.support.stage import Stage

PROCESSES = ("web", "cycle", "kube", "informer", "beat")
LONGEST_SECONDS = 150.0
PASS = "reconcile.pass"
PASS_SECONDS = 75.0


def run(stage: Stage, gang_count: int, blow_count: int, rng: random.Random) -> dict[str, Any]:
    """The run's figures; `complaints` holds whatever is not as it must be."""
    token, queue = _rows(stage)
    stage.start(*PROCESSES)
    stage.wait_for_web()
    gangs, faults = draw(rng, gang_count), Faults(stage.emulator_url)
    blows = Blows(stage, faults, rng)
    submitter = Submitter(stage.url, token, queue, meanwhile=blows.raise_the_dead)
    begun = time.monotonic()
    blows.refuse_fifth_pods(gangs)
    live_through(gangs, blow_count, blows, submitter, rng)
    blows.end()
    struck = time.monotonic()
    found = [] if _all_ended(stage) else ["not every job has ended"]
    ended = time.monotonic()
    _two_passes(stage)
    found += complaints(Cluster.objects.get(), gangs, faults.devices())
    return {
        "gangs": gang_count,
        "workers": sum(gang.workers for gang in gangs),
        "blows": dict(sorted(blows.struck.items())),
        "requests_repeated": submitter.repeated,
        **_figures(),
        "seconds_of_blows": round(struck - begun, 1),
        "seconds_until_all_ended": round(ended - begun, 1),
        "complaints": found,
    }


def _rows(stage: Stage) -> tuple[str, str]:
    """A cluster, a tenant with a queue; the token of its member and the queue's name."""
    make_priorities()
    cluster = make_cluster("demo", kubeconfig_path=str(stage.kubeconfig))
    world = make_world("vision")
    make_quota(world.queue, cluster, guaranteed=64, limit=64)
    return create_token(world.member, "loop")[1], world.queue.name


def live_through(gangs: list[Gang], blow_count: int, blows: Blows, submitter: Submitter, rng: random.Random) -> None:
    """Gangs and blows, in an order drawn at random; some gangs are cancelled a little later."""
    events: list[Gang | None] = [*gangs, *[None] * blow_count]
    rng.shuffle(events)
    to_cancel: list[Gang] = []
    for event in events:
        blows.raise_the_dead()
        if event is None:
            blows.strike()
            time.sleep(rng.uniform(0.3, 1.5))
            continue
        submitter.submit(event)
        if event.is_cancelled:
            to_cancel.append(event)
        elif to_cancel and rng.random() < 0.5:
            submitter.cancel(to_cancel.pop())
        time.sleep(rng.uniform(0.0, 0.3))
    for gang in to_cancel:
        submitter.cancel(gang)


def _all_ended(stage: Stage) -> bool:
    def is_over() -> bool:
        return not Job.objects.exclude(state__in=FINAL_JOB_STATES).exists()

    try:
        stage.wait(is_over, "every job to end", seconds=LONGEST_SECONDS)
    except TimeoutError:
        return False
    return True


def _two_passes(stage: Stage) -> None:
    """An informer that starts passes once as soon as it has listed everything: two starts are two passes."""
    for _ in range(2):
        before = stage.log("informer", last=10**9).count(PASS)
        stage.kill("informer")
        stage.start("informer")
        stage.wait(
            lambda before=before: stage.log("informer", last=10**9).count(PASS) > before,
            "a pass of the reconciler",
            seconds=PASS_SECONDS,
        )
        # What the pass ordered is carried out by the executor.
        time.sleep(2)


def _figures() -> dict[str, Any]:
    """What the rows tell of the run."""
    totals = Job.objects.aggregate(own_faults=Sum("own_faults"))
    status = ClusterStatus.objects.get()
    states = list(Job.objects.values_list("state", flat=True))
    return {
        "jobs": {state: states.count(state) for state in sorted(set(states))},
        "attempts": Attempt.objects.count(),
        "attempts_refused": Attempt.objects.filter(cause="refused").count(),
        "attempts_faulted": Attempt.objects.filter(cause="fault").count(),
        "own_faults": totals["own_faults"],
        "repairs": status.repairs,
        "drift": status.drift,
    }
