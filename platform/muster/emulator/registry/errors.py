"""The errors a Kubernetes API server answers with."""

from typing import Any

Json = dict[str, Any]


class ApiError(Exception):
    """A request refused; carries the whole `Status` object the server answers."""

    def __init__(
        self,
        code: int,
        reason: str | None,
        message: str,
        *,
        details: Json | None = None,
        retry_after: int | None = None,
    ):
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.retry_after = retry_after

    def status(self) -> Json:
        """The metav1.Status of this error."""
        body: Json = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            body["reason"] = self.reason
        details = dict(self.details) if self.details is not None else None
        if self.retry_after is not None:
            details = {**(details or {}), "retryAfterSeconds": self.retry_after}
        if details is not None:
            body["details"] = details
        return {**body, "code": self.code}


class Cause:
    """One field error of a 422: `field`, its message and the machine reason."""

    __slots__ = ("field", "message", "reason")

    def __init__(self, field: str, message: str, reason: str):
        self.field, self.message, self.reason = field, message, reason

    def json(self) -> Json:
        return {"field": self.field, "message": self.message, "reason": self.reason}


def required(field: str) -> Cause:
    return Cause(field, "Required value", "FieldValueRequired")


def invalid_value(field: str, value: str, why: str) -> Cause:
    return Cause(field, f'Invalid value: "{value}": {why}', "FieldValueInvalid")


def forbidden_value(field: str, why: str) -> Cause:
    return Cause(field, f"Forbidden: {why}", "FieldValueForbidden")


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def internal(message: str) -> ApiError:
    """A 500 as Go errors without a status become: without a reason."""
    return ApiError(500, None, message)
