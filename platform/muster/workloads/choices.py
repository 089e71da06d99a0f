"""Kinds and states of jobs, attempts and workers."""

from django.db.models import TextChoices


class JobKind(TextChoices):
    """Sets defaults that the job may override."""

    TRAINING = "training"
    INFERENCE = "inference"
    BATCH = "batch"
    PLACEHOLDER = "placeholder"


class JobState(TextChoices):
    """Where a job is. *Preempted* is a cause, not a state; a nominated job is queued."""

    QUEUED = "queued"
    HELD = "held"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL_JOB_STATES = (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED)
WAITING_JOB_STATES = (JobState.QUEUED, JobState.HELD)
ACTIVE_JOB_STATES = (JobState.STARTING, JobState.RUNNING, JobState.STOPPING)


class AttemptState(TextChoices):
    """Where one run of a job is."""

    NOMINATED = "nominated"
    CREATING = "creating"
    BINDING = "binding"
    RUNNING = "running"
    UNWINDING = "unwinding"
    STOPPING = "stopping"
    ENDED = "ended"


class WorkerPhase(TextChoices):
    """A pod as the informer last saw it. `planned` has no pod yet; `gone` has none any more."""

    PLANNED = "planned"
    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    GONE = "gone"


class Cause(TextChoices):
    """Why a state changed; `states.py` says who may cause what."""

    SUBMIT = "submit"
    HOLD = "hold"
    RELEASE = "release"
    COMMIT = "commit", "the scheduler placed it"
    OBSERVED = "observed", "seen in the cluster"
    REFUSED = "refused", "the cluster refused a pod"
    CANCEL = "cancel"
    FAULT = "fault", "a fault of the cluster"
    OWN_FAULT = "own_fault", "a fault of the job"
    WALLTIME = "walltime"
    PREEMPT = "preempt"
    RECLAIM = "reclaim"
    DISPLACE = "displace"
    MOVE = "move"
    SHRINK = "shrink"
    COMPLETE = "complete", "its ending role has finished"
