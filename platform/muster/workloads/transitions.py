"""The tables of allowed state changes. `states.move` checks causes too; the database's triggers check the pairs.

`settle` walks every state in between: pods first seen Succeeded take starting → running → succeeded in one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping

from muster.workloads.choices import AttemptState as A
from muster.workloads.choices import Cause as C
from muster.workloads.choices import JobState as J

STOP_CAUSES = frozenset(
    {C.CANCEL, C.FAULT, C.OWN_FAULT, C.WALLTIME, C.PREEMPT, C.RECLAIM, C.DISPLACE, C.MOVE, C.COMPLETE}
)
REQUEUE_CAUSES = frozenset({C.FAULT, C.OWN_FAULT, C.PREEMPT, C.RECLAIM, C.DISPLACE, C.MOVE})
FAIL_CAUSES = frozenset({C.OWN_FAULT, C.WALLTIME})

JOB_CAUSES: Mapping[tuple[str, str], frozenset[C]] = {
    (J.QUEUED, J.HELD): frozenset({C.HOLD}),
    (J.HELD, J.QUEUED): frozenset({C.RELEASE}),
    (J.QUEUED, J.STARTING): frozenset({C.COMMIT}),
    (J.QUEUED, J.CANCELLED): frozenset({C.CANCEL}),
    (J.HELD, J.CANCELLED): frozenset({C.CANCEL}),
    (J.STARTING, J.RUNNING): frozenset({C.OBSERVED}),
    (J.STARTING, J.QUEUED): frozenset({C.REFUSED}),
    (J.STARTING, J.STOPPING): STOP_CAUSES,
    (J.RUNNING, J.STOPPING): STOP_CAUSES,
    (J.RUNNING, J.SUCCEEDED): frozenset({C.OBSERVED}),
    (J.RUNNING, J.FAILED): FAIL_CAUSES,
    (J.STOPPING, J.QUEUED): REQUEUE_CAUSES,
    (J.STOPPING, J.CANCELLED): frozenset({C.CANCEL}),
    (J.STOPPING, J.FAILED): FAIL_CAUSES,
    (J.STOPPING, J.SUCCEEDED): frozenset({C.COMPLETE}),
}

ATTEMPT_CAUSES: Mapping[tuple[str, str], frozenset[C]] = {
    (A.NOMINATED, A.CREATING): frozenset({C.COMMIT}),
    (A.NOMINATED, A.ENDED): frozenset({C.COMMIT, C.CANCEL}),
    (A.CREATING, A.BINDING): frozenset({C.OBSERVED}),
    (A.BINDING, A.RUNNING): frozenset({C.OBSERVED}),
    (A.RUNNING, A.ENDED): frozenset({C.OBSERVED, C.COMPLETE}) | FAIL_CAUSES | REQUEUE_CAUSES,
    (A.CREATING, A.UNWINDING): STOP_CAUSES | {C.REFUSED},
    (A.BINDING, A.UNWINDING): STOP_CAUSES | {C.REFUSED},
    (A.UNWINDING, A.ENDED): STOP_CAUSES | {C.REFUSED},
    (A.RUNNING, A.STOPPING): STOP_CAUSES,
    (A.STOPPING, A.ENDED): STOP_CAUSES | {C.OBSERVED},
}

JOB_TRANSITIONS = [(str(a), str(b)) for a, b in JOB_CAUSES]
ATTEMPT_TRANSITIONS = [(str(a), str(b)) for a, b in ATTEMPT_CAUSES]
