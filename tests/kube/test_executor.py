"""The executor: a gang is bound whole or taken back whole, whatever the API server answers."""

import pytest

from muster.clusters.models import Node
from muster.kube.executor.drain import drain
from muster.kube.executor.load import load_gang
from muster.kube.executor.placement import PlacementRun
from muster.kube.executor.plugins.registry import resolve
from muster.kube.gateway import Gateway
from muster.kube.manifests.names import ATTEMPT_LABEL
from muster.kube.resources import CONFIGMAPS, NAMESPACES, PODS, SERVICES
from muster.placements.actions import cancel_job, claim_intents
from muster.placements.choices import HoldState, IntentState
from muster.placements.models import DeviceHold, Orphan, Placement, Stop
from muster.workloads.choices import JobState
from muster.workloads.models import Job, Worker
from tests.support.builders import World
from tests.support.kubernetes import Faults, eventually, pod
from tests.support.placing import start

GANG = {"workers": 8, "gpus": 2}


def reaches(placement: Placement, *states: str, seconds: float = 15) -> Job:
    """The job of a placement, once it is in one of these states; the executor is rung meanwhile, as the beat does."""
    job = placement.attempt.job

    def look() -> bool:
        drain(job.cluster_id)
        job.refresh_from_db()
        return job.state in states

    try:
        eventually(look, seconds=seconds)
    except AssertionError as error:
        rows = list(Worker.objects.filter(attempt=placement.attempt).values_list("phase", "reason", "message"))
        placement.refresh_from_db()
        raise AssertionError(f"{job.state} {job.state_message}: {rows} {placement.last_error}") from error
    return job


def objects_of(gateway: Gateway, attempt_id: int) -> list[str]:
    """Names of everything that is left of an attempt."""
    selector = f"{ATTEMPT_LABEL}={attempt_id}"
    return [
        item["metadata"]["name"]
        for resource in (SERVICES, CONFIGMAPS, PODS)
        for items, _version in gateway.pages(resource, labelSelector=selector)
        for item in items
    ]


def test_a_gang_runs_to_its_end(world: World, nodes: list[Node], gateway: Gateway, faults: Faults) -> None:
    placement = start(world, nodes, **GANG, behaviour={"run-seconds": 8})
    job = reaches(placement, JobState.RUNNING)
    held = {gpu["index"] for gpu in faults.devices()["node-00000"] if gpu["holders"]}
    assert held == {0, 1, 2, 3}
    told = placement.attempt.workers.order_by("index").values_list("pod_name", flat=True)
    assert list(told) == [member.pod_name for member in load_gang(placement.attempt_id).members]
    reaches(placement, JobState.SUCCEEDED)
    assert not DeviceHold.objects.filter(state=HoldState.HELD).exists()
    placement.refresh_from_db()
    assert placement.state == IntentState.DONE
    # Its Service goes, and everything with it.
    eventually(lambda: drain(job.cluster_id) or not objects_of(gateway, placement.attempt_id))
    assert Orphan.objects.get().kind == "Service"


def test_a_refused_fifth_pod_takes_all_eight_back(
    world: World, nodes: list[Node], gateway: Gateway, faults: Faults
) -> None:
    faults.add(code=403, method="POST", path="/pods$", skip=4)
    placement = start(world, nodes, **GANG)
    job = reaches(placement, JobState.QUEUED)
    eventually(lambda: not objects_of(gateway, placement.attempt_id))
    assert "denied by an admission webhook" in job.state_message
    assert job.not_before is not None
    assert (job.unwinds, job.own_faults) == (1, 0)
    assert not DeviceHold.objects.filter(state=HoldState.HELD).exists()


def test_a_refused_binding_takes_all_back(world: World, nodes: list[Node], gateway: Gateway, faults: Faults) -> None:
    faults.add(code=403, method="POST", path="/binding$", skip=6)
    placement = start(world, nodes, **GANG)
    reaches(placement, JobState.QUEUED)
    eventually(lambda: not objects_of(gateway, placement.attempt_id))
    eventually(lambda: not DeviceHold.objects.filter(state=HoldState.HELD).exists())


@pytest.mark.parametrize(
    "rule",
    [
        {"action": "lose-reply", "method": "POST", "path": "/pods$", "skip": 1, "times": 3},
        {"action": "lose-reply", "method": "POST", "path": "/binding$", "times": 3},
        {"action": "drop", "method": "POST", "probability": 0.5, "times": 5},
        {"code": 500, "method": "POST", "probability": 0.3, "times": 5},
        {"code": 429, "method": "POST", "path": "/binding$", "times": 4},
        {"code": 409, "method": "POST", "path": "/binding$", "times": 1, "action": "status"},
    ],
    ids=["created-but-lost", "bound-but-lost", "dropped", "failing", "throttled", "conflict"],
)
def test_answers_that_are_lost_lose_nothing(
    world: World, nodes: list[Node], gateway: Gateway, faults: Faults, rule: dict[str, object]
) -> None:
    faults.add(**rule)
    placement = start(world, nodes, **GANG)
    if rule.get("code") == 409:
        # Not bound, whatever the server meant: taken back.
        reaches(placement, JobState.QUEUED)
        return
    reaches(placement, JobState.RUNNING)
    assert faults.hits() > 0
    assert sum(len(gpu["holders"]) for row in faults.devices().values() for gpu in row) == 16


def test_a_node_that_is_gone_is_not_bound_to(world: World, nodes: list[Node], gateway: Gateway, faults: Faults) -> None:
    """The API server would bind to it without a word."""
    faults.add(code=404, method="GET", path="/nodes/node-00003$")
    placement = start(world, nodes, **GANG)
    job = reaches(placement, JobState.QUEUED)
    assert "node-00003" in job.state_message
    assert list(job.avoided.values_list("node__name", flat=True)) == ["node-00003"]


def test_a_name_that_others_have_refuses(world: World, nodes: list[Node], gateway: Gateway) -> None:
    placement = start(world, nodes, workers=2, gpus=1)
    namespace, name = world.tenant.namespace, load_gang(placement.attempt_id).members[1].pod_name
    gateway.create(NAMESPACES, "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    gateway.create(PODS, namespace, pod(name, namespace=namespace))
    job = reaches(placement, JobState.QUEUED)
    assert f"pods {name} exists and is not ours" in job.state_message
    assert gateway.get(PODS, namespace, name)


class Killed(BaseException):
    """As SIGKILL: nothing catches it."""


def test_a_process_that_died_half_way_is_taken_over(
    world: World, nodes: list[Node], gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever claims next finds the pods that the first one made, and goes on."""

    def die(*_: object) -> None:
        raise Killed

    placement = start(world, nodes, **GANG)
    (claimed,) = claim_intents(placement.cluster_id, [Placement], limit=1)
    monkeypatch.setattr(PlacementRun, "_bind", die)
    with pytest.raises(Killed):
        PlacementRun(claimed, gateway, resolve({})).run()
    monkeypatch.undo()
    assert len(objects_of(gateway, placement.attempt_id)) == 10
    Placement.objects.filter(pk=placement.pk).update(lease_until="2000-01-01T00:00:00Z")
    reaches(placement, JobState.RUNNING)


def test_a_cancel_ends_processes_with_grace_and_keeps_the_last_lines(
    world: World, nodes: list[Node], gateway: Gateway
) -> None:
    behaviour = {"checkpoint-seconds": 0.3, "log-lines": 2, "log-interval": 0.1}
    placement = start(world, nodes, workers=2, gpus=1, behaviour=behaviour)
    job = reaches(placement, JobState.RUNNING)
    cancel_job(job, world.member)
    reaches(placement, JobState.CANCELLED)
    workers = Worker.objects.filter(attempt=placement.attempt)
    eventually(lambda: all("checkpoint saved" in worker.last_lines for worker in workers.all()))
    eventually(lambda: not objects_of(gateway, placement.attempt_id) or drain(job.cluster_id))


def test_one_rank_that_fails_fails_the_gang(world: World, nodes: list[Node], gateway: Gateway) -> None:
    behaviour = {"run-seconds": 0.3, "exit-code": 3, "log-lines": 1}
    placement = start(world, nodes, workers=2, gpus=1, behaviour=behaviour)
    job = reaches(placement, JobState.FAILED)
    assert "3" in job.state_message
    eventually(lambda: drain(job.cluster_id) or not objects_of(gateway, placement.attempt_id))
    assert Worker.objects.filter(attempt=placement.attempt, last_lines="line 1/1").exists()


def test_a_lost_node_requeues_at_no_cost(world: World, nodes: list[Node], faults: Faults) -> None:
    placement = start(world, nodes, **GANG)
    reaches(placement, JobState.RUNNING)
    faults.node("node-00002", "lose", power_off=True)
    eventually(lambda: not Node.objects.get(name="node-00002").ready)
    job = reaches(placement, JobState.STOPPING, JobState.QUEUED)
    assert job.own_faults == 0
    faults.node("node-00002", "restore")
    reaches(placement, JobState.QUEUED)


def test_a_gpu_that_fails_requeues(world: World, nodes: list[Node], faults: Faults) -> None:
    placement = start(world, nodes, **GANG)
    reaches(placement, JobState.RUNNING)
    faults.node("node-00001", "gpus/0", healthy=False, xid=79)
    job = reaches(placement, JobState.QUEUED)
    assert job.own_faults == 0
    assert list(job.avoided.values_list("node__name", flat=True)) == ["node-00001"]


@pytest.mark.parametrize(
    ("behaviour", "outcome", "words"),
    [
        ({"checkpoint-seconds": 0.2}, "saved", "The checkpoint was saved"),
        ({"checkpoint-fails": "no space left on device"}, "failed", "The checkpoint failed: no space left on device"),
        ({}, "silent", "Nobody said"),
        ({"checkpoint-seconds": 30}, "silent", "Nobody said"),
    ],
    ids=["saved", "failed", "silent", "killed"],
)
def test_a_stop_says_how_its_checkpoint_ended(
    world: World, nodes: list[Node], behaviour: dict[str, object], outcome: str, words: str
) -> None:
    checkpoint = {"grace": "4s", "command": ["save"]}  # far more than it takes, on a busy machine too
    placement = start(world, nodes, workers=2, gpus=1, checkpoint=checkpoint, behaviour=behaviour)
    cancel_job(reaches(placement, JobState.RUNNING), world.member)
    job = reaches(placement, JobState.CANCELLED)
    assert Stop.objects.get(attempt=placement.attempt).outcome == outcome
    assert job.events.get(kind="checkpoint").message.startswith(words)


def test_a_stop_without_a_checkpoint_command_says_nothing(world: World, nodes: list[Node]) -> None:
    placement = start(world, nodes, gpus=1, checkpoint={"grace": "1s"}, behaviour={"checkpoint-seconds": 0.1})
    cancel_job(reaches(placement, JobState.RUNNING), world.member)
    job = reaches(placement, JobState.CANCELLED)
    assert Stop.objects.get(attempt=placement.attempt).outcome == ""
    assert not job.events.filter(kind="checkpoint").exists()
