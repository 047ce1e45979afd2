"""Errors: one class for each HTTP status, and classes for calls without a response.

All errors are a `PresageError`. Responses with an error status raise an `ApiError` with `status`,
`code`, `message`, `detail`, `request_id` and `retry_after`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from presage._api_keys import hide_keys


class PresageError(Exception):
    """Base class of all errors of this library. Their texts never show an API key."""

    def __init__(self, message: str = "") -> None:
        # Errors are logged, and a message may quote a header or URL of the call.
        super().__init__(hide_keys(message))


class ConfigurationError(PresageError):
    """The address, email, key or token is missing or cannot be used."""


class FileError(PresageError):
    """A file cannot be read or written, or is of a kind that the service does not accept."""


class UnreachableError(PresageError):
    """The service did not respond, because of a failed or broken connection or a timeout."""


class UnreadableAnswerError(PresageError):
    """The response does not come from Presage but, for example, from a proxy."""


class WaitTimeoutError(PresageError):
    """The work is still running after the timeout that the caller set."""


class JobFailedError(PresageError):
    """An upload, training, export or batch failed. The message comes from the service."""

    def __init__(self, message: str, *, code: str = "", request_id: str = "") -> None:
        self.code = code
        """`upload_failed`, `training_failed`, `export_failed`, `batch_failed` or
        `batch_cancelled`."""
        self.request_id = request_id
        """Identifies, in the service's log, the call that returned the awaited record."""
        super().__init__(message)


class SignatureError(PresageError):
    """A webhook request was not sent by the service, or is too old."""


class ApiError(PresageError):
    """The service refused a call, or failed."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str = "",
        detail: str = "",
        request_id: str = "",
        retry_after: float | None = None,
        raw: Mapping[str, Any] | None = None,
    ) -> None:
        self.status = status
        """HTTP status."""
        self.message: str = hide_keys(message)
        """What is wrong, and how to fix it."""
        self.code = code
        """Stable code of the error."""
        self.detail: str = hide_keys(detail)
        """The cause, for errors whose `message` has a fixed text."""
        self.request_id = request_id
        """Identifies the call in the service's log."""
        self.retry_after = retry_after
        """Seconds after which a retry may succeed; None if unknown."""
        self.raw: Mapping[str, Any] = raw or {}
        """The response as JSON. If `check` with `preview` fails, its `detail` has the columns."""
        # Some messages repeat the detail already.
        super().__init__(f"{message} {detail}" if detail and detail not in message else message)


class BadRequestError(ApiError):
    """400: the request is invalid."""


class AuthenticationError(ApiError):
    """401: the credentials are invalid."""


class PermissionDeniedError(ApiError):
    """403: the call is outside of the scope of the API key."""


class NotFoundError(ApiError):
    """404: the object does not exist, or belongs to another account."""


class ConflictError(ApiError):
    """409: the current state of the object does not allow the call."""


class TooLargeError(ApiError):
    """413: a file or the body is too large."""


class UnsupportedTypeError(ApiError):
    """415: the content type, or the type of the file, is not supported."""


class UnprocessableError(ApiError):
    """422: the idempotency key was used for another request."""


class RateLimitError(ApiError):
    """429: too many calls, or an exhausted quota."""


class InternalServerError(ApiError):
    """500: an internal error of the service."""


class ServiceUnavailableError(ApiError):
    """503: the service is busy, or cannot store data."""


class GatewayTimeoutError(ApiError):
    """504: the work did not finish in time."""


BY_STATUS: Mapping[int, type[ApiError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    413: TooLargeError,
    415: UnsupportedTypeError,
    422: UnprocessableError,
    429: RateLimitError,
    500: InternalServerError,
    503: ServiceUnavailableError,
    504: GatewayTimeoutError,
}
