"""The SDK: what the command line uses, and scripts may.

    from muster.cli.client import Muster

    with Muster() as muster:
        job = muster.submit(Path("train.yaml").read_text())
        job = muster.wait(job["id"])

Answers are the REST interface's own JSON (`/api/v1/docs/`).
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import httpx

FINAL_STATES = frozenset({"succeeded", "failed", "cancelled"})
POLL_SECONDS = 0.5
PAGE = 1000


class MusterClientError(Exception):
    """Something between this program and the platform went wrong; the message is a sentence for people."""


class Unreachable(MusterClientError):
    """Nobody answers at the platform's address."""


class NotSignedIn(MusterClientError):
    """There is no token, or the platform does not take it."""


@dataclass
class Refused(MusterClientError):
    """The platform refused. `code`, `fields` and `details` are those of the interface's errors."""

    status: int
    code: str
    message: str
    fields: dict[str, list[str]] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message


class Muster:
    """A connection to the platform. Without arguments it is the one that `muster login` or `muster up` left on this machine."""

    def __init__(self, url: str = "", token: str = "", *, transport: httpx.BaseTransport | None = None) -> None:
        if not url:
            from muster.cli.credentials import find

            url, token = find()
        self.url = url.rstrip("/")
        self._http = httpx.Client(
            base_url=f"{self.url}/api/v1/",
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=httpx.Timeout(30, connect=5),
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def submit(
        self, job_file: str | Mapping[str, Any], *, strict: bool = False, dry_run: bool = False, key: str = ""
    ) -> dict[str, Any]:
        """Submit a job file (YAML text or its values). Sent again after a broken connection it is still one job."""
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        parameters = {name: "1" for name, wanted in (("strict", strict), ("dry_run", dry_run)) if wanted}
        body: dict[str, Any]
        if isinstance(job_file, str):
            body, headers["Content-Type"] = {"content": job_file.encode()}, "application/yaml"
        else:
            body = {"json": dict(job_file)}
        return self._call("POST", "jobs/", params=parameters, headers=headers, tries=3, **body)

    def jobs(self, *, limit: int = 50, **filters: Any) -> list[dict[str, Any]]:
        """Jobs, newest first; filters as the interface names them: state="queued", name__ic="llama"."""
        return self._rows("jobs/", limit, filters)

    def job(self, job: int | str) -> dict[str, Any]:
        """One job: by number, or the latest of that name."""
        return self._call("GET", f"jobs/{self.job_id(job)}/", tries=3)

    def job_id(self, job: int | str) -> int:
        """The number of a job that people named by number or by name."""
        if str(job).isdecimal():
            return int(job)
        found = self.jobs(name=job, limit=1, fields="id")
        if not found:
            raise Refused(404, "not_found", f"There is no job {job}.")
        return int(found[0]["id"])

    def workers(self, job: int | str) -> list[dict[str, Any]]:
        """The workers of its latest attempt, with node and devices."""
        return self._call("GET", f"jobs/{self.job_id(job)}/workers/", tries=3)

    def events(self, job: int | str) -> list[dict[str, Any]]:
        """Its story, oldest first."""
        return self._call("GET", f"jobs/{self.job_id(job)}/events/", tries=3)

    def verdict(self, job: int | str) -> dict[str, Any]:
        """Why it waits."""
        return self._call("GET", f"jobs/{self.job_id(job)}/verdict/", tries=3)

    def cancel(self, job: int | str) -> dict[str, Any]:
        """End it for good."""
        return self._call("POST", f"jobs/{self.job_id(job)}/cancel/")

    def hold(self, job: int | str) -> dict[str, Any]:
        """Keep it from starting."""
        return self._call("POST", f"jobs/{self.job_id(job)}/hold/")

    def release(self, job: int | str) -> dict[str, Any]:
        """Let it start."""
        return self._call("POST", f"jobs/{self.job_id(job)}/release/")

    def wait(self, job: int | str, *, seconds: float | None = None) -> dict[str, Any]:
        """The job when it has ended; raises TimeoutError after `seconds`."""
        for found in self.follow(job, seconds=seconds):
            last = found
        return last

    def follow(self, job: int | str, *, seconds: float | None = None) -> Iterator[dict[str, Any]]:
        """The job each time its state or readiness has changed, until it has ended."""
        job_id, deadline = self.job_id(job), None if seconds is None else time.monotonic() + seconds
        before = None
        while True:
            found = self.job(job_id)
            now = (found["state"], found["workers"]["ready"])
            if now != before:
                yield found
            if found["state"] in FINAL_STATES:
                return
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"{found['name']} is still {found['state']}.")
            before = now
            time.sleep(POLL_SECONDS)

    def logs(
        self, job: int | str, *, worker: str = "", follow: bool = False, tail: int | None = None
    ) -> Iterator[tuple[str, str]]:
        """Worker and line of a job's logs, of all workers or the one named; with `follow` those to come until they end, be it that
        the job has not begun yet."""
        parameters: dict[str, Any] = {"worker": worker} if worker else {}
        parameters |= {"follow": "1"} if follow else {}
        parameters |= {"tail": tail} if tail is not None else {}
        # A followed log may be silent for hours.
        timeout = httpx.Timeout(30, connect=5, read=None) if follow else httpx.USE_CLIENT_DEFAULT
        path = f"jobs/{self.job_id(job)}/logs/"
        try:
            with self._http.stream("GET", path, params=parameters, timeout=timeout) as answer:
                if answer.is_error:
                    answer.read()
                _check(answer)
                for line in _lines(answer.iter_bytes()):
                    yield (worker, line) if worker else _told_by(line)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def queues(self, **filters: Any) -> list[dict[str, Any]]:
        """Every queue with quotas and totals."""
        return self._rows("queues/", None, filters)

    def nodes(self, **filters: Any) -> list[dict[str, Any]]:
        """Every node with its GPUs."""
        return self._rows("nodes/", None, filters)

    def fits(self, cluster: str | None = None) -> dict[str, Any]:
        """What could start now in a cluster, the first unless it is named; `cluster` is a name."""
        found = self._rows("clusters/", 1, {"name": cluster} if cluster else {})
        if not found:
            raise Refused(
                404, "not_found", f"There is no cluster {cluster}." if cluster else "There is no cluster yet."
            )
        return dict(self._call("GET", f"clusters/{found[0]['id']}/fits/"))

    def me(self) -> dict[str, Any]:
        """Who is signed in."""
        return self._call("GET", "me/")

    def login(self, username: str, password: str, *, name: str) -> str:
        """A token for a name and a password."""
        body = {"username": username, "password": password, "name": name}
        return str(self._call("POST", "login/", json=body)["token"])

    def _rows(self, path: str, limit: int | None, filters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """`limit` rows, or all of them, page by page."""
        rows: list[dict[str, Any]] = []
        parameters = dict(filters) | {"limit": min(limit or PAGE, PAGE)}
        while True:
            page = self._call("GET", path, params=parameters | {"offset": len(rows)}, tries=3)
            rows += page["results"]
            if not page["next"] or (limit and len(rows) >= limit):
                return rows[:limit] if limit else rows

    def _call(self, method: str, path: str, *, tries: int = 1, **request: Any) -> Any:
        """One request; one that may be repeated is, after a broken connection, up to `tries` times."""
        for left in range(tries - 1, -1, -1):
            try:
                answer = self._http.request(method, path, **request)
                break
            except httpx.TransportError as error:
                if not left:
                    raise self._unreachable(error) from error
                time.sleep(0.3)
        _check(answer)
        return answer.json() if answer.content else None

    def _unreachable(self, error: httpx.TransportError) -> Unreachable:
        return Unreachable(f"The platform at {self.url} does not answer: {error}. Is it running (`muster up`)?")


def _lines(chunks: Iterator[bytes]) -> Iterator[str]:
    """Split at line feeds alone: progress bars return the carriage, and text may hold any other separator."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")


def _told_by(line: str) -> tuple[str, str]:
    found = json.loads(line)
    return found["worker"], found["line"]


def _check(answer: httpx.Response) -> None:
    if answer.status_code == httpx.codes.UNAUTHORIZED:
        raise NotSignedIn(f"{answer.url.host} does not take this token; sign in with `muster login`.")
    if answer.is_error:
        try:
            body = answer.json()
            raise Refused(answer.status_code, body["code"], body["message"], body["fields"], body.get("details", {}))
        except (ValueError, KeyError, TypeError):
            message = f"The platform answered {answer.status_code} {answer.reason_phrase}."
            raise Refused(answer.status_code, "error", message) from None
