"""Predictions of batches: reserved when one begins, what is left over given back when it ends.

A line of the log is written for each of the two, as for single predictions; what is written twice
bears the same token, and the audit counts it once.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from chalicelib import log, metrics
from chalicelib.domain.accounts.usage import (
    COUNTED,
    GIVEN_BACK,
    KEPT_AFTER_RESET,
    PREDICTIONS,
    NoteQuota,
    month_key,
    next_month_start,
    percents_passed,
    reset_text,
    whole_seconds,
)
from chalicelib.errors import PredictionQuotaExceeded

if TYPE_CHECKING:
    from chalicelib.domain.accounts.account import Account
    from chalicelib.domain.common.clock import Clock
    from chalicelib.domain.jobs.batch import Batch


class BatchCounters(Protocol):
    """Predictions counted by month, many at once."""

    def reserve(self, batch: Batch, limit: int, expires_at: datetime) -> tuple[int, int]:
        """Reserve predictions; return how many, and how many others are counted."""

    def settle(self, batch: Batch, kept: int) -> int:
        """Give back what is not kept; return how many were reserved, 0 when it was done before."""


class BatchAllowances:
    """Counts the lines of batches against the predictions of a month."""

    def __init__(
        self, counters: BatchCounters, clock: Clock, note_quota: NoteQuota = lambda *_: None
    ) -> None:
        self._note_quota = note_quota
        self._counters = counters
        self._clock = clock

    def month(self) -> str:
        """Name the month in which a batch that begins now is counted."""
        return month_key(self._clock())

    def reserve(self, account: Account, batch: Batch) -> int:
        """Reserve a prediction for each line of a batch whose lines are counted.

        Args:
            account: its owner.
            batch: asked again, it gets what it has.

        Returns:
            How many lines are covered, from the first on.

        Raises:
            PredictionQuotaExceeded: not all are left, and it takes no part of them; or none is.
            StorageUnavailable: nobody knows whether they are reserved; ask again.
        """
        now, limit = self._clock(), account.predictions_per_month
        until = next_month_start(now) + KEPT_AFTER_RESET
        covered, others = self._counters.reserve(batch, limit, until)
        if not covered:
            metrics.put({metrics.QUOTA_REFUSALS: 1}, Kind=PREDICTIONS)
            raise _too_many(account, batch, max(0, limit - others), now)
        log.record(
            "prediction", model=batch.model_id, month=batch.month, outcome=COUNTED,
            count=covered, token=batch.batch_id, account=batch.account_id,
        )  # fmt: skip
        for percent in percents_passed(limit, others, others + covered):
            self._note_quota(account, percent, batch.month)
        return covered

    def settle(self, batch: Batch, kept: int) -> None:
        """Keep the predictions that were made and give the others back, once.

        Args:
            batch: which has ended.
            kept: lines that have an answer.
        """
        if not batch.month:
            return
        reserved = self._counters.settle(batch, kept)
        if reserved:
            figures = metrics.embedded({metrics.PREDICTIONS: kept}, Type=batch.model_type)
            log.record(
                "settlement", kind=PREDICTIONS, month=batch.month, outcome=GIVEN_BACK,
                count=reserved - kept, token=batch.batch_id, account=batch.account_id, **figures,
            )  # fmt: skip


def _too_many(account: Account, batch: Batch, left: int, now: datetime) -> PredictionQuotaExceeded:
    """Name both numbers, and what helps."""
    reset = next_month_start(now)
    remedy = "" if batch.is_partial or not left else " Send partial=true to have as many answered."
    return PredictionQuotaExceeded(
        f"The batch has {batch.total} lines, and {left} of the {account.predictions_per_month} "
        f"predictions of plan {account.plan} are left this month.{remedy} The count starts again "
        f"on {reset_text(reset)}; a larger plan lifts the limit.",
        whole_seconds(reset - now),
    )
