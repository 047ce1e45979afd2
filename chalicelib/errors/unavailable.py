"""The service itself cannot answer now: 503 and 504."""

from __future__ import annotations

from chalicelib.errors.base import ServiceError


class StorageUnavailable(ServiceError):
    """AWS throttled, failed or was out of reach; the cause is chained."""

    status = 503
    code = "storage_unavailable"

    def __init__(self, retry_after_seconds: int = 2) -> None:
        super().__init__(f"The storage is busy. Try again in {retry_after_seconds} seconds.")
        self.retry_after_seconds = retry_after_seconds


class TimedOut(ServiceError):
    """The work was not finished within the gateway's time; the text says how far it came."""

    status = 504
    code = "timed_out"

    def __init__(self, message: str, retry_after_seconds: int = 5) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds
