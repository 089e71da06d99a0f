"""What a Kubernetes API server, or the way to it, may answer; foreign errors become these at the gateway and nowhere else."""

from __future__ import annotations

from typing import Any

from muster.common.errors import MusterError


class KubeError(MusterError):
    """The cluster's API server refused a request."""

    code = "kubernetes"
    status = 502

    @property
    def reason(self) -> str:
        """The server's word for it: AlreadyExists, Conflict, Expired …; empty where it gave none."""
        return str(self.details.get("reason", ""))


class BadRequest(KubeError):
    """The API server does not understand the request, or finds the object invalid."""

    code = "kubernetes_bad_request"


class Unauthorized(KubeError):
    """The API server does not know us."""

    code = "kubernetes_unauthorized"


class Forbidden(KubeError):
    """The API server does not allow this: rights, quota or admission."""

    code = "kubernetes_forbidden"


class NotFound(KubeError):
    """There is no such object in the cluster."""

    code = "kubernetes_not_found"


class AlreadyExists(KubeError):
    """An object of this name exists."""

    code = "kubernetes_already_exists"


class Conflict(KubeError):
    """The object is not as the request expects it: bound, being deleted, changed, or another uid."""

    code = "kubernetes_conflict"


class Gone(KubeError):
    """The resource version is too old: list anew."""

    code = "kubernetes_gone"


class TooManyRequests(KubeError):
    """The API server asks us to wait."""

    code = "kubernetes_throttled"

    @property
    def retry_after(self) -> float:
        """Seconds the server asked for; 1 where it named none."""
        return float(self.details.get("retry_after") or 1.0)


class ServerFault(KubeError):
    """The API server failed; whether it did what was asked is not known."""

    code = "kubernetes_fault"

    @property
    def retry_after(self) -> float:
        """Seconds the server asked for; 1 where it named none."""
        return float(self.details.get("retry_after") or 1.0)


class Unreachable(KubeError):
    """The API server does not answer; whether it did what was asked is not known."""

    code = "kubernetes_unreachable"
    status = 503


class BadConnection(KubeError):
    """The stored connection to the cluster cannot be used."""

    code = "kubernetes_connection"


UNKNOWN_OUTCOME = (ServerFault, Unreachable)
"""After these a write may or may not have happened: read, then decide."""

PASSING = (TooManyRequests, ServerFault, Unreachable, Unauthorized)
"""These say nothing about the request itself: it is worth repeating later."""

_BY_CODE: dict[int, type[KubeError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    410: Gone,
    429: TooManyRequests,
}


def from_status(code: int, body: dict[str, Any], retry_after: str | None = None) -> KubeError:
    """The error for a `Status` the server sent, whether as an answer or inside a watch."""
    reason = body.get("reason") or ""
    details = body.get("details") or {}
    wait = details.get("retryAfterSeconds") or retry_after
    kind = _BY_CODE.get(code) or _by_reason(code, reason)
    causes = [str(cause.get("message", "")) for cause in details.get("causes") or []]
    return kind(body.get("message") or f"HTTP {code}", reason=reason, http_status=code, retry_after=wait, causes=causes)


def _by_reason(code: int, reason: str) -> type[KubeError]:
    if code == 409:
        return AlreadyExists if reason == "AlreadyExists" else Conflict
    return ServerFault if code >= 500 else BadRequest
