"""An allowance of the account is used up: 429."""

from __future__ import annotations

from chalicelib.errors.base import ServiceError


class QuotaExceeded(ServiceError):
    """An allowance is used up."""

    status = 429
    code = "quota_exceeded"

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class PredictionQuotaExceeded(QuotaExceeded):
    """The monthly predictions of the plan are used up."""

    code = "prediction_quota_exceeded"


class ExampleQuotaExceeded(QuotaExceeded):
    """The monthly calls that return examples are used up."""

    code = "example_quota_exceeded"


class TooManyOpen(QuotaExceeded):
    """Too much unfinished or stored work of one account."""

    code = "too_many_open"
