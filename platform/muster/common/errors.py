"""One tree of errors. The docstring is the default message; `status` is used at the API edge only."""

from __future__ import annotations

from typing import Any


class MusterError(Exception):
    """Something went wrong in Muster."""

    code = "error"
    status = 500

    def __init__(
        self, message: str | None = None, *, fields: dict[str, list[str]] | None = None, **details: Any
    ) -> None:
        self.message = message or (type(self).__doc__ or "").strip().splitlines()[0]
        self.fields = fields or {}
        self.details = details
        super().__init__(self.message)


class Invalid(MusterError):
    """What was sent is not valid."""

    code = "invalid"
    status = 400


class NotSupportedYet(Invalid):
    """This feature is not supported yet."""

    code = "not_supported_yet"


class Forbidden(MusterError):
    """You may not do this."""

    code = "forbidden"
    status = 403


class NotFound(MusterError):
    """There is no such object, or you may not see it."""

    code = "not_found"
    status = 404


class Conflict(MusterError):
    """The object is in a state that does not allow this."""

    code = "conflict"
    status = 409


class Stale(MusterError):
    """Somebody else changed the object since you read it."""

    code = "stale"
    status = 412


class Unavailable(MusterError):
    """A part of the platform that this needs does not answer."""

    code = "unavailable"
    status = 503
