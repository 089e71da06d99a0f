"""Wall-clock time in the forms that Kubernetes writes it."""

import time
from datetime import UTC, datetime


def now() -> float:
    """Seconds since the epoch."""
    return time.time()


def stamp(seconds: float | None = None) -> str:
    """metav1.Time: RFC 3339 in UTC with whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now() if seconds is None else seconds))


def nano_stamp(seconds: float) -> str:
    """RFC 3339 with nanoseconds, as a container runtime writes it before each log line."""
    whole = int(seconds)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{int((seconds - whole) * 1e9):09d}Z"


def parse_stamp(text: str) -> float:
    """Seconds since the epoch of an RFC 3339 time; ValueError when it is none."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
