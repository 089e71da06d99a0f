"""What is decided from observed pods, sentence by sentence. No database."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from muster.placements.choices import StopCause
from muster.placements.faults import Member
from muster.placements.settlement import RoleNeeds, Scene, Settlement, decide
from muster.workloads.choices import AttemptState as A
from muster.workloads.choices import Cause as C
from muster.workloads.choices import JobState as J

RUNNING = {"attempt_state": A.RUNNING, "job_state": J.RUNNING, "ran_seconds": 1000.0}
BINDING = {"attempt_state": A.BINDING, "job_state": J.STARTING}


def pods(*phases: str, **columns: Any) -> tuple[Member, ...]:
    """Workers of one role in rank order; `columns` hold for those that failed."""
    return tuple(
        Member(n + 1, "worker", n, phase, rank=n, node_id=100 + n, node_name=f"n{n}", has_pod=phase != "planned")
        if phase != "failed"
        else replace(Member(n + 1, "worker", n, phase, rank=n, node_id=100 + n, node_name=f"n{n}"), **columns)
        for n, phase in enumerate(phases)
    )


def scene(members: tuple[Member, ...], **fields: Any) -> Scene:
    roles = (RoleNeeds("worker", min_workers=len(members)),)
    return Scene(**{**BINDING, "members": members, "roles": roles} | fields)


@dataclass(frozen=True)
class Case:
    """A situation and what it must lead to."""

    name: str
    given: Scene
    attempt: tuple[tuple[A, C], ...] = ()
    job: tuple[tuple[J, C], ...] = ()
    stop: StopCause | None = None
    gone: tuple[int, ...] = ()
    more: dict[str, Any] = field(default_factory=dict)


own = {"exit_code": 1, "reason": "Error"}
CASES = [
    Case("nothing seen yet", scene(pods("planned", "planned"), attempt_state=A.CREATING)),
    Case("some run: not started", scene(pods("running", "pending"))),
    Case(
        "all run: running",
        scene(pods("running", "running")),
        attempt=((A.RUNNING, C.OBSERVED),),
        job=((J.RUNNING, C.OBSERVED),),
    ),
    Case(
        "seen running before the bindings were noted: every state between is walked",
        scene(pods("running"), attempt_state=A.CREATING),
        attempt=((A.BINDING, C.OBSERVED), (A.RUNNING, C.OBSERVED)),
        job=((J.RUNNING, C.OBSERVED),),
    ),
    Case(
        "first seen succeeded: starting, running, succeeded",
        scene(pods("succeeded", "succeeded")),
        attempt=((A.RUNNING, C.OBSERVED), (A.ENDED, C.OBSERVED)),
        job=((J.RUNNING, C.OBSERVED), (J.SUCCEEDED, C.OBSERVED)),
        stop=StopCause.COMPLETE,
        gone=(1, 2),
    ),
    Case("one finished, one still runs", scene(pods("succeeded", "running"), **RUNNING), gone=(1,)),
    Case(
        "one rank exits 1: the gang is stopped",
        scene(pods("running", "failed", **own), **RUNNING),
        attempt=((A.STOPPING, C.OWN_FAULT),),
        job=((J.STOPPING, C.OWN_FAULT),),
        stop=StopCause.OWN_FAULT,
        gone=(2,),
        more={"message": "worker-1 (rank 1) on n1 exited with code 1.", "avoid": frozenset({101})},
    ),
    Case(
        "it exits before the others were seen running",
        scene(pods("pending", "failed", **own)),
        attempt=((A.UNWINDING, C.OWN_FAULT),),
        job=((J.STOPPING, C.OWN_FAULT),),
        stop=StopCause.OWN_FAULT,
        gone=(2,),
    ),
    Case(
        "out of memory is its own fault too",
        scene(pods("failed", exit_code=137, reason="OOMKilled"), **RUNNING),
        attempt=((A.STOPPING, C.OWN_FAULT),),
        job=((J.STOPPING, C.OWN_FAULT),),
        stop=StopCause.OWN_FAULT,
        gone=(1,),
        more={"message": "worker-0 (rank 0) on n0 exited with code 137, out of memory."},
    ),
    Case(
        "exit 1 on a node that is not ready is the cluster's fault",
        scene(pods("running", "failed", is_node_ready=False, **own), **RUNNING),
        attempt=((A.STOPPING, C.FAULT),),
        job=((J.STOPPING, C.FAULT),),
        stop=StopCause.FAULT,
        gone=(2,),
    ),
    Case(
        "a pod with a reason of its own is the cluster's fault",
        scene(pods("running", "failed", exit_code=143, reason="NodeShutdown"), **RUNNING),
        attempt=((A.STOPPING, C.FAULT),),
        job=((J.STOPPING, C.FAULT),),
        stop=StopCause.FAULT,
        gone=(2,),
        more={"message": "The cluster ended worker-1 (rank 1) on n1 (NodeShutdown)."},
    ),
    Case(
        "where one rank fails by the cluster, the others' exits are its consequence",
        scene(
            (*pods("failed", **own), replace(pods("failed", reason="Evicted")[0], worker_id=2, node_id=101)),
            **RUNNING,
        ),
        attempt=((A.STOPPING, C.FAULT),),
        job=((J.STOPPING, C.FAULT),),
        stop=StopCause.FAULT,
        gone=(1, 2),
        more={"avoid": frozenset({101})},
    ),
    Case(
        "a pod deleted by others",
        scene(pods("running", "gone"), **RUNNING),
        attempt=((A.STOPPING, C.FAULT),),
        job=((J.STOPPING, C.FAULT),),
        stop=StopCause.FAULT,
        gone=(2,),
    ),
    Case(
        "the kubelet refuses one: taken back, and the job stays starting until all is gone",
        scene(pods("pending", "failed", reason="OutOfcpu")),
        attempt=((A.UNWINDING, C.REFUSED),),
        stop=StopCause.FAULT,
        gone=(2,),
        more={"avoid": frozenset({101})},
    ),
    Case(
        "while its Placement is open, who holds that one undoes it",
        scene(pods("pending", "failed", reason="OutOfcpu"), has_open_placement=True),
        attempt=((A.UNWINDING, C.REFUSED),),
        gone=(2,),
    ),
    Case(
        "unwinding waits for every pod",
        scene(pods("pending", "gone"), attempt_state=A.UNWINDING, cause=C.REFUSED),
        gone=(2,),
    ),
    Case(
        "a worker without a pod keeps its devices while one may still be created",
        scene(pods("planned", "gone"), attempt_state=A.UNWINDING, cause=C.REFUSED, has_open_placement=True),
        gone=(2,),
    ),
    Case(
        "unwound: queued, with a pause that doubles, and no retry counted",
        scene(pods("planned", "gone"), attempt_state=A.UNWINDING, cause=C.REFUSED, unwinds=3),
        attempt=((A.ENDED, C.REFUSED),),
        job=((J.QUEUED, C.REFUSED),),
        gone=(1, 2),
        more={"pause": 16.0, "counts_refusal": True, "counts_own_fault": False},
    ),
    Case(
        "cancelled",
        scene(pods("failed", exit_code=143), attempt_state=A.STOPPING, job_state=J.STOPPING, cause=C.CANCEL),
        attempt=((A.ENDED, C.CANCEL),),
        job=((J.CANCELLED, C.CANCEL),),
        gone=(1,),
    ),
    Case(
        "nothing counts as free before the pod is gone",
        scene(pods("running", "failed"), attempt_state=A.STOPPING, job_state=J.STOPPING, cause=C.CANCEL),
        gone=(2,),
    ),
    *(
        Case(
            f"stopped for {cause}: queued again at once",
            scene(pods("failed", exit_code=143), attempt_state=A.STOPPING, job_state=J.STOPPING, cause=cause),
            attempt=((A.ENDED, cause),),
            job=((J.QUEUED, cause),),
            gone=(1,),
        )
        for cause in (C.FAULT, C.PREEMPT, C.RECLAIM, C.DISPLACE, C.MOVE)
    ),
    Case(
        "past its walltime: failed",
        scene(pods("gone"), attempt_state=A.STOPPING, job_state=J.STOPPING, cause=C.WALLTIME),
        attempt=((A.ENDED, C.WALLTIME),),
        job=((J.FAILED, C.WALLTIME),),
        gone=(1,),
    ),
    Case(
        "an own fault ends once the last log lines are there",
        scene(
            pods("failed", **own), attempt_state=A.STOPPING, job_state=J.STOPPING, cause=C.OWN_FAULT, has_open_stop=True
        ),
        gone=(1,),
    ),
    Case(
        "failed, with rank, exit code and last lines",
        scene(
            pods("failed", last_lines="line 1\nBoom\n", **own),
            attempt_state=A.STOPPING,
            job_state=J.STOPPING,
            cause=C.OWN_FAULT,
        ),
        attempt=((A.ENDED, C.OWN_FAULT),),
        job=((J.FAILED, C.OWN_FAULT),),
        gone=(1,),
        more={"message": "worker-0 (rank 0) on n0 exited with code 1.\nline 1\nBoom", "counts_own_fault": True},
    ),
    Case(
        "with retries left it comes back, soon after an early end only after a pause",
        scene(
            pods("failed", **own),
            attempt_state=A.STOPPING,
            job_state=J.STOPPING,
            cause=C.OWN_FAULT,
            retries=3,
            own_faults=2,
            ran_seconds=299.0,
        ),
        attempt=((A.ENDED, C.OWN_FAULT),),
        job=((J.QUEUED, C.OWN_FAULT),),
        gone=(1,),
        more={"pause": 40.0},
    ),
    Case(
        "later ends come back at once",
        scene(
            pods("failed", **own),
            attempt_state=A.STOPPING,
            job_state=J.STOPPING,
            cause=C.OWN_FAULT,
            retries=1,
            ran_seconds=300.0,
        ),
        attempt=((A.ENDED, C.OWN_FAULT),),
        job=((J.QUEUED, C.OWN_FAULT),),
        gone=(1,),
        more={"pause": 0.0},
    ),
    Case("an ended attempt only gives back", scene(pods("gone"), attempt_state=A.ENDED), gone=(1,)),
    Case("a nomination is the scheduler's", scene(pods("planned"), attempt_state=A.NOMINATED, job_state=J.QUEUED)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_decide(case: Case) -> None:
    found = decide(case.given)
    assert found.attempt_moves == case.attempt
    assert found.job_moves == case.job
    assert found.stop == case.stop
    assert found.gone == case.gone
    assert {name: getattr(found, name) for name in case.more} == case.more


def test_a_role_that_ends_the_job_stops_the_others() -> None:
    members = (Member(1, "launcher", 0, "succeeded"), *(replace(m, worker_id=m.worker_id + 1) for m in pods("running")))
    roles = (RoleNeeds("launcher", 1, ends_job=True), RoleNeeds("worker", 1))
    found = decide(scene(members, roles=roles, **RUNNING))
    assert (found.attempt_moves, found.job_moves, found.stop) == (
        ((A.STOPPING, C.COMPLETE),),
        ((J.STOPPING, C.COMPLETE),),
        StopCause.COMPLETE,
    )
    stopped = tuple(
        replace(member, phase="failed", exit_code=143) if member.role == "worker" else member for member in members
    )
    ended = decide(scene(stopped, roles=roles, attempt_state=A.STOPPING, job_state=J.STOPPING, cause=C.COMPLETE))
    assert ended.job_moves == ((J.SUCCEEDED, C.COMPLETE),)


def test_an_elastic_gang_runs_at_its_minimum() -> None:
    found = decide(scene(pods("running", "pending"), roles=(RoleNeeds("worker", min_workers=1),)))
    assert found.job_moves == ((J.RUNNING, C.OBSERVED),)


def test_pauses_are_bounded() -> None:
    unwound = scene(pods("gone"), attempt_state=A.UNWINDING, cause=C.REFUSED, unwinds=1000)
    assert decide(unwound).pause == 600.0


def test_settled_scenes_ask_for_nothing() -> None:
    assert decide(scene(pods("running"), **RUNNING)) == Settlement()
