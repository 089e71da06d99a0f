"""The annotations that tell a simulated container what to do."""

from dataclasses import dataclass

from muster.emulator.kubelet.logs import Line
from muster.emulator.registry.errors import Json

PREFIX = "emulator.muster.dev/"
SIGTERM_CODE, SIGKILL_CODE = 143, 137


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Times in seconds. README.md has the annotation of each field."""

    start_delay: float = 0.0
    run_seconds: float | None = None  # None: until it is stopped
    exit_code: int = 0
    exit_reason: str | None = None
    checkpoint_seconds: float = 0.0  # from SIGTERM to its exit
    checkpoint_exit_code: int = SIGTERM_CODE
    checkpoint_fails: str = ""  # why; empty: it does not
    ignores_sigterm: bool = False
    log_lines: int = 0
    log_interval: float | None = None
    progress: int | None = None  # steps of the whole run

    @classmethod
    def of(cls, pod: Json) -> "Behaviour":
        """Read a pod's annotations; a value that cannot be read counts as not given."""
        given = pod["metadata"].get("annotations") or {}
        run = _number(given, "run-seconds")
        steps = _number(given, "progress")
        return cls(
            start_delay=_number(given, "start-delay") or 0.0,
            run_seconds=run,
            exit_code=int(_number(given, "exit-code") or 0),
            exit_reason=given.get(PREFIX + "exit-reason"),
            checkpoint_seconds=_number(given, "checkpoint-seconds") or 0.0,
            checkpoint_exit_code=int(_number(given, "checkpoint-exit-code") or SIGTERM_CODE),
            checkpoint_fails=given.get(PREFIX + "checkpoint-fails", ""),
            ignores_sigterm=given.get(PREFIX + "ignore-sigterm") == "true",
            log_lines=int(_number(given, "log-lines") or 0),
            log_interval=_number(given, "log-interval"),
            progress=int(steps) if steps else None,
        )

    @property
    def seconds_per_line(self) -> float:
        """Lines spread over the run, else one a second."""
        if self.log_interval:
            return self.log_interval
        if self.run_seconds and self.log_lines:
            return self.run_seconds / self.log_lines
        return 1.0


def _number(annotations: dict[str, str], name: str) -> float | None:
    try:
        return float(annotations[PREFIX + name])
    except (KeyError, ValueError):
        return None


class SimulatedLines:
    """The log lines of a simulated container: the first at its start, the others at even distances."""

    def __init__(self, behaviour: Behaviour, started: float):
        self._behaviour = behaviour
        self._started = started
        self._told = 0

    def due(self, now: float) -> list[Line]:
        lines = []
        while (at := self.next_at()) is not None and at <= now:
            lines.append(Line(at, self._text(self._told)))
            self._told += 1
        return lines

    def next_at(self) -> float | None:
        if self._told >= self._behaviour.log_lines:
            return None
        return self._started + self._told * self._behaviour.seconds_per_line

    def _text(self, number: int) -> bytes:
        count, steps = self._behaviour.log_lines, self._behaviour.progress
        if steps is None:
            return f"line {number + 1}/{count}\n".encode()
        step = round(steps * (number + 1) / count)
        loss = 0.4 + 4 / (1 + 8 * step / steps)
        return f"step {step}/{steps} loss={loss:.4f}\n".encode()
