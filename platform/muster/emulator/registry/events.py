"""Events in their two forms: core/v1 as they are stored, events.k8s.io/v1 as schedulers write them."""

from muster.emulator.registry.errors import Cause, Json, required

#: Field of events.k8s.io/v1 → field of core/v1.
_RENAMED = {
    "note": "message",
    "regarding": "involvedObject",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_BACK = {core: new for new, core in _RENAMED.items()}
_REQUIRED = ("eventTime", "reportingController", "reportingInstance", "action", "reason", "type")
LONGEST_NOTE = 1024


def to_core(event: Json) -> Json:
    """From events.k8s.io/v1 to what is stored."""
    return {_RENAMED.get(field, field): value for field, value in event.items()}


def from_core(event: Json) -> Json:
    """From what is stored to events.k8s.io/v1."""
    return {_BACK.get(field, field): value for field, value in event.items()}


def causes(event: Json) -> list[Cause]:
    """What a new event of events.k8s.io/v1 lacks, or has too much of."""
    found = [required(field) for field in _REQUIRED if not event.get(field)]
    if len(event.get("note", "").encode()) > LONGEST_NOTE:
        found.append(Cause("note", f"can have at most {LONGEST_NOTE} characters", "FieldValueInvalid"))
    return found
