"""What is wrong with a job file: every problem with its key, its line and, for a typing error, the name that was meant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from muster.common.errors import Invalid


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong. `line` counts from 1 and is None for what came as JSON."""

    key: str
    message: str
    line: int | None = None
    nearest: str | None = None
    code: str = "invalid"

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.message}"


class SpecInvalid(Invalid):
    """The job file is not valid."""

    code = "invalid_job"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        fields: dict[str, list[str]] = defaultdict(list)
        for problem in problems:
            fields[problem.key].append(problem.message)
        if all(problem.code == "not_supported_yet" for problem in problems):
            self.code = "not_supported_yet"
        details: dict[str, Any] = {"problems": [asdict(problem) for problem in problems]}
        super().__init__("; ".join(map(str, problems)), fields=dict(fields), **details)
