"""What is to be done about an attempt, decided from what was seen of its pods. Pure: values in, values out.

`decide` is asked again after every batch of observations and must then find nothing new to do; `actions.settling` reads the
`Scene` and applies the `Settlement`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from muster.placements.choices import StopCause
from muster.placements.faults import Fault, Member, find_fault, first_failed
from muster.workloads.choices import AttemptState as A
from muster.workloads.choices import Cause as C
from muster.workloads.choices import JobState as J
from muster.workloads.choices import WorkerPhase as P

ENDED_PHASES = (P.SUCCEEDED, P.FAILED, P.GONE)
EARLY_SECONDS = 300.0
"""An own fault sooner after the start than this comes back only after a pause."""
FIRST_PAUSE = 10.0
FIRST_REFUSAL_PAUSE = 2.0
LAST_PAUSE = 600.0


@dataclass(frozen=True, slots=True)
class RoleNeeds:
    """What a role needs for the gang to count as running, and whether its end is the job's."""

    name: str
    min_workers: int
    ends_job: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """An attempt with its job and pods, as the rows say."""

    attempt_state: str
    job_state: str
    members: tuple[Member, ...]
    roles: tuple[RoleNeeds, ...]
    cause: str = ""
    has_open_placement: bool = False
    has_open_stop: bool = False
    ran_seconds: float = 0.0
    """Since every minimum worker ran; 0 before."""
    retries: int = 0
    own_faults: int = 0
    unwinds: int = 0


@dataclass(frozen=True, slots=True)
class Settlement:
    """What to do. Moves are walked in order; `gone` are the workers whose devices are free from now on."""

    gone: tuple[int, ...] = ()
    attempt_moves: tuple[tuple[A, C], ...] = ()
    job_moves: tuple[tuple[J, C], ...] = ()
    stop: StopCause | None = None
    message: str = ""
    pause: float = 0.0
    """Seconds that a job queued again waits at least."""
    counts_own_fault: bool = False
    counts_refusal: bool = False
    avoid: frozenset[int] = field(default_factory=frozenset)
    """Nodes that the job is not put on again for a while."""


def decide(scene: Scene) -> Settlement:
    """What an attempt's observed pods ask for."""
    if scene.attempt_state in (A.UNWINDING, A.STOPPING):
        return _finish(scene)
    if scene.attempt_state in (A.CREATING, A.BINDING, A.RUNNING):
        return _follow(scene)
    if scene.attempt_state == A.ENDED:
        return Settlement(gone=tuple(member.worker_id for member in scene.members))
    return Settlement()


def _follow(scene: Scene) -> Settlement:
    """An attempt that nobody has stopped: started, finished, or broken?"""
    gone = tuple(member.worker_id for member in scene.members if member.phase in ENDED_PHASES)
    is_running = _is_started(scene)
    attempt_walk = tuple(_walk_to_running(scene)) if is_running else ()
    job_walk: tuple[tuple[J, C], ...] = ()
    if is_running and scene.job_state == J.STARTING:
        job_walk = ((J.RUNNING, C.OBSERVED),)
    end = _complete(scene, is_running) or _break(scene, is_running)
    if end is None:
        return Settlement(gone=gone, attempt_moves=attempt_walk, job_moves=job_walk)
    return Settlement(
        gone=gone,
        attempt_moves=attempt_walk + end.attempt_moves,
        job_moves=job_walk + end.job_moves,
        stop=end.stop,
        message=end.message,
        avoid=end.avoid,
    )


def _walk_to_running(scene: Scene) -> Iterator[tuple[A, C]]:
    if scene.attempt_state == A.CREATING:
        yield A.BINDING, C.OBSERVED
    if scene.attempt_state in (A.CREATING, A.BINDING):
        yield A.RUNNING, C.OBSERVED


def _is_started(scene: Scene) -> bool:
    """Every minimum worker runs, or has run."""
    if scene.attempt_state == A.RUNNING:
        return True
    return all(
        sum(member.role == role.name and member.has_run for member in scene.members) >= role.min_workers
        for role in scene.roles
    )


def _complete(scene: Scene, is_running: bool) -> Settlement | None:
    """The job is done: all exited 0, or all of a role whose end is the job's."""
    done = {role.name for role in scene.roles if _has_succeeded(scene, role.name)}
    if len(done) == len(scene.roles) and is_running:
        return Settlement(
            attempt_moves=((A.ENDED, C.OBSERVED),),
            job_moves=((J.SUCCEEDED, C.OBSERVED),),
            stop=StopCause.COMPLETE,
            message="Every worker has finished.",
        )
    ending = next((role.name for role in scene.roles if role.ends_job and role.name in done), None)
    if ending is None:
        return None
    return _stopping(is_running, C.COMPLETE, message=f"Role {ending} has finished; the others are stopped.")


def _has_succeeded(scene: Scene, role: str) -> bool:
    return all(member.phase == P.SUCCEEDED for member in scene.members if member.role == role)


def _break(scene: Scene, is_running: bool) -> Settlement | None:
    """A pod failed or vanished: the attempt ends whole."""
    fault = find_fault(scene.members)
    if fault is None:
        return None
    if not is_running and not fault.is_own:
        return _refused(scene, fault)
    cause = C.OWN_FAULT if fault.is_own else C.FAULT
    return _stopping(is_running, cause, message=fault.message, avoid=fault.nodes)


def _refused(scene: Scene, fault: Fault) -> Settlement:
    """The gang never ran as a whole: it is taken back, and the job queued as if it had not been placed.

    While its Placement is open, whoever holds that one deletes what he created; afterwards it takes a Stop.
    """
    return Settlement(
        attempt_moves=((A.UNWINDING, C.REFUSED),),
        stop=None if scene.has_open_placement else StopCause.FAULT,
        message=fault.message,
        avoid=fault.nodes,
    )


def _stopping(is_running: bool, cause: C, *, message: str, avoid: frozenset[int] = frozenset()) -> Settlement:
    return Settlement(
        attempt_moves=((A.STOPPING if is_running else A.UNWINDING, cause),),
        job_moves=((J.STOPPING, cause),),
        stop=StopCause(cause),
        message=message,
        avoid=avoid,
    )


def _finish(scene: Scene) -> Settlement:
    """An attempt being ended: give back what is gone, and close it with the last pod."""
    gone = tuple(member.worker_id for member in scene.members if _is_gone(scene, member))
    if len(gone) < len(scene.members) or scene.has_open_placement:
        return Settlement(gone=gone)
    if scene.cause == C.OWN_FAULT and scene.has_open_stop:
        return Settlement(gone=gone)  # its last log lines are still being fetched
    return _ended(scene, gone)


def _is_gone(scene: Scene, member: Member) -> bool:
    if member.phase == P.PLANNED:
        return not member.has_pod and not scene.has_open_placement
    return member.phase in ENDED_PHASES


def _ended(scene: Scene, gone: tuple[int, ...]) -> Settlement:
    cause = C(scene.cause)
    moves = ((A.ENDED, cause),)
    if scene.job_state == J.STARTING:
        pause = _pause(FIRST_REFUSAL_PAUSE, scene.unwinds)
        job_moves = ((J.QUEUED, C.REFUSED),)
        return Settlement(gone=gone, attempt_moves=moves, job_moves=job_moves, pause=pause, counts_refusal=True)
    if cause == C.OWN_FAULT:
        return _own_fault_ended(scene, gone)
    return Settlement(gone=gone, attempt_moves=moves, job_moves=((_AFTER.get(cause, J.QUEUED), cause),))


_AFTER = {C.CANCEL: J.CANCELLED, C.COMPLETE: J.SUCCEEDED, C.WALLTIME: J.FAILED}
"""What a job becomes when its attempt was ended for this cause; queued for every other."""


def _own_fault_ended(scene: Scene, gone: tuple[int, ...]) -> Settlement:
    may_retry = scene.own_faults < scene.retries
    is_early = scene.ran_seconds < EARLY_SECONDS
    failed = first_failed(scene.members)
    return Settlement(
        gone=gone,
        attempt_moves=((A.ENDED, C.OWN_FAULT),),
        job_moves=((J.QUEUED if may_retry else J.FAILED, C.OWN_FAULT),),
        message=failed.message_with_log if failed else "",
        pause=_pause(FIRST_PAUSE, scene.own_faults) if may_retry and is_early else 0.0,
        counts_own_fault=True,
    )


def _pause(first: float, times: int) -> float:
    return min(LAST_PAUSE, first * 2.0 ** min(times, 16))
