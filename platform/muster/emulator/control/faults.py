"""Faults on order: which requests get which, how often."""

import random
import re
from dataclasses import dataclass, field
from typing import Any

from muster.emulator.registry.errors import ApiError, Json

ACTIONS = ("status", "hang", "slow", "drop", "lose-reply")
_ANSWERS = {
    400: ("BadRequest", "injected: bad request"),
    401: ("Unauthorized", "Unauthorized"),
    403: ("Forbidden", "injected: denied by an admission webhook"),
    404: ("NotFound", "injected: not found"),
    409: ("Conflict", "injected: the object has been modified; please apply your changes to the latest version and try again"),
    410: ("Expired", "The resourceVersion for the provided list is too old."),
    422: ("Invalid", "injected: invalid"),
    429: ("TooManyRequests", "Too many requests, please try again later."),
    500: ("InternalError", "Internal error occurred: injected"),
    503: ("ServiceUnavailable", "injected: the server is currently unable to handle the request"),
    504: ("Timeout", "Timeout: request did not complete within the allotted timeout"),
}  # fmt: skip


@dataclass(slots=True)
class Fault:
    """One rule. It hits requests that match all of method, path and name, after `skip` of them, `times` times."""

    number: int
    action: str = "status"
    code: int = 500
    retry_after: int | None = None
    method: str | None = None  # GET, POST, …; WATCH for watches
    path: str | None = None  # regular expression, searched in the path
    name: str | None = None  # regular expression, matched on the object's name (of the path or the body)
    skip: int = 0
    times: int | None = 1  # None: for ever
    probability: float = 1.0
    seed: int = 0
    seconds: float | None = None  # of slow (1), of hang (for ever)
    seen: int = 0
    hits: int = 0
    _random: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def strikes(self, method: str, path: str, name: str) -> bool:
        """Whether this request gets the fault; counts it."""
        if self.times is not None and self.hits >= self.times:
            return False
        if self.method is not None and self.method != method:
            return False
        if self.path is not None and not re.search(self.path, path):
            return False
        if self.name is not None and not re.fullmatch(self.name, name):
            return False
        self.seen += 1
        if self.seen <= self.skip or self._random.random() >= self.probability:
            return False
        self.hits += 1
        return True

    def error(self) -> ApiError:
        reason, message = _ANSWERS.get(self.code, ("InternalError", "injected"))
        retry_after = self.retry_after
        if retry_after is None and self.code == 429:
            retry_after = 1
        return ApiError(self.code, reason, message, retry_after=retry_after)

    def json(self) -> Json:
        names = ("number", "action", "code", "retry_after", "method", "path", "name", "skip", "times", "probability",
                 "seed", "seconds", "seen", "hits")  # fmt: skip
        return {name: getattr(self, name) for name in names}


class FaultBook:
    """The rules in force; the first that strikes wins."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._numbers = 0

    def add(self, given: dict[str, Any]) -> Fault:
        """Add a rule; ValueError names a key or value that is wrong."""
        allowed = set(Fault.__dataclass_fields__) - {"number", "seen", "hits", "_random"}
        for key in given:
            if key not in allowed:
                raise ValueError(f"unknown key {key!r}; there are: {', '.join(sorted(allowed))}")
        if given.get("action", "status") not in ACTIONS:
            raise ValueError(f"action is one of {', '.join(ACTIONS)}")
        for key in ("path", "name"):
            try:
                re.compile(given.get(key) or "")
            except re.error as error:
                raise ValueError(f"{key}: {error}") from error
        self._numbers += 1
        fault = Fault(number=self._numbers, **given)
        self._faults.append(fault)
        return fault

    def strike(self, method: str, path: str, name: str) -> Fault | None:
        return next((fault for fault in self._faults if fault.strikes(method, path, name)), None)

    def clear(self) -> None:
        self._faults.clear()

    def __bool__(self) -> bool:
        return bool(self._faults)

    def json(self) -> list[Json]:
        return [fault.json() for fault in self._faults]
