"""What can go wrong: one class for each status of an answer, and a few for what has no answer.

Everything here is a `PresageError`; what the service refused is an `ApiError` with `status`,
`code`, `message`, `detail`, `request_id` and `retry_after`.
"""

from __future__ import annotations

from collections.abc import Mapping


class PresageError(Exception):
    """Anything that this library raises on purpose."""


class ConfigurationError(PresageError):
    """Address, e-mail, key or token are missing or cannot be used."""


class FileError(PresageError):
    """A file that was to be sent cannot be read, or is none that the service takes."""


class UnreachableError(PresageError):
    """The service did not answer: no connection, a connection that broke, or no answer in time."""


class UnreadableAnswerError(PresageError):
    """Something answered that is not Presage, such as a proxy's page."""


class WaitTimeoutError(PresageError):
    """What was waited for goes on, but the time that the caller gave is over."""


class JobFailedError(PresageError):
    """An upload or training ended as FAILED; the text is the service's cause."""


class SignatureError(PresageError):
    """What came to a webhook was not sent by the service, or long ago."""


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
    ) -> None:
        self.status = status
        """HTTP status."""
        self.message = message
        """What is wrong and how to mend it."""
        self.code = code
        """Stable name of the error."""
        self.detail = detail
        """The cause, where the old service fixed the text of `message`."""
        self.request_id = request_id
        """Names the call in the service's log."""
        self.retry_after = retry_after
        """Seconds after which a repeat may succeed; None when the service does not say."""
        super().__init__(f"{message} {detail}" if detail and detail not in message else message)


class BadRequestError(ApiError):
    """400: the request is wrong."""


class AuthenticationError(ApiError):
    """401: the caller is not known."""


class NotFoundError(ApiError):
    """404: there is no such thing, or it belongs to another account."""


class ConflictError(ApiError):
    """409: the state of the thing forbids it now."""


class TooLargeError(ApiError):
    """413: a file or the body is over its limit."""


class UnsupportedTypeError(ApiError):
    """415: the content type, or the file's own type, is of no supported kind."""


class UnprocessableError(ApiError):
    """422: the same idempotency key came with another request."""


class RateLimitError(ApiError):
    """429: too many calls, or an allowance that is used up."""


class InternalServerError(ApiError):
    """500: something went wrong inside the service."""


class ServiceUnavailableError(ApiError):
    """503: the service is busy, or cannot save what it takes."""


class GatewayTimeoutError(ApiError):
    """504: the work was not finished in time."""


BY_STATUS: Mapping[int, type[ApiError]] = {
    400: BadRequestError,
    401: AuthenticationError,
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
