"""Words of intents and holds."""

from django.db.models import TextChoices


class HoldState(TextChoices):
    """A released hold is history: replay, usage and the map's slider read it."""

    NOMINATED = "nominated"
    HELD = "held"
    RELEASED = "released"


class HoldKind(TextChoices):
    """How a device is held. Kinds never meet on one GPU."""

    WHOLE = "whole"
    SHARE = "share"
    MIG = "mig"
    SLICE = "slice", "replica of a time-sliced GPU"
    NIC = "nic", "a place at a network card"


class IntentState(TextChoices):
    """Where an intent is; `undone` was given up and everything of it taken back."""

    TODO = "todo"
    DOING = "doing"
    DONE = "done"
    UNDONE = "undone"


OPEN_INTENTS = (IntentState.TODO, IntentState.DOING)


class StopCause(TextChoices):
    """Why workers are ended."""

    PREEMPT = "preempt"
    RECLAIM = "reclaim"
    DISPLACE = "displace"
    MOVE = "move"
    SHRINK = "shrink"
    CANCEL = "cancel"
    FAULT = "fault", "a fault of the cluster"
    OWN_FAULT = "own_fault", "a fault of the job"
    WALLTIME = "walltime"
    COMPLETE = "complete", "its ending role has finished"


class CheckpointOutcome(TextChoices):
    """How a stop with a checkpoint ended; silent: nobody said."""

    SAVED = "saved"
    FAILED = "failed"
    SILENT = "silent"


class NodeVerb(TextChoices):
    """Orders to a node."""

    CORDON = "cordon"
    UNCORDON = "uncordon"
