"""Reserves predictions at the start of a batch, and releases unused predictions at its end.

Each of these steps writes one log line with the batch id. So `python -m infra.accounts audit`
counts a batch once, even if a step was repeated.
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
    """Counts the predictions of each month. One write can count all predictions of a batch."""

    def reserve(self, batch: Batch, limit: int, expires_at: datetime) -> tuple[int, int]:
        """Reserve predictions for a batch, without exceeding the account's `limit` of the month.

        Returns:
            The number of predictions reserved for the batch, and the number of all other
            predictions that the account has used or reserved in the month.
        """

    def settle(self, batch: Batch, counted: int) -> int:
        """Release the predictions reserved for a batch, except `counted` predictions.

        Returns:
            The number of predictions that were reserved; 0 if the batch was settled before.
        """


class BatchAllowances:
    """Counts the lines of batches as predictions of the month."""

    def __init__(
        self, counters: BatchCounters, clock: Clock, note_quota: NoteQuota = lambda *_: None
    ) -> None:
        self._note_quota = note_quota
        self._counters = counters
        self._clock = clock

    def month(self) -> str:
        """Return the month in which predictions of a new batch are counted, such as `2026-11`."""
        return month_key(self._clock())

    def reserve(self, account: Account, batch: Batch) -> int:
        """Reserve a prediction for each line of a batch.

        A repeated call returns the number that the first call reserved.

        Returns:
            The number of lines with a reserved prediction. These are the first lines of the batch.

        Raises:
            PredictionQuotaExceeded: no predictions are left; or too few are left for all lines, and
                the batch does not allow a partial result.
            StorageUnavailable: the outcome is unknown; call again.
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

    def settle(self, batch: Batch, counted: int) -> None:
        """Release the predictions reserved for a batch, except `counted` predictions.

        The `counted` predictions stay counted. A repeated call changes nothing.
        """
        if not batch.month:
            return
        reserved = self._counters.settle(batch, counted)
        if reserved:
            figures = metrics.embedded({metrics.PREDICTIONS: counted}, Type=batch.model_type)
            log.record(
                "settlement", kind=PREDICTIONS, month=batch.month, outcome=GIVEN_BACK,
                count=reserved - counted, token=batch.batch_id, account=batch.account_id, **figures,
            )  # fmt: skip


def _too_many(account: Account, batch: Batch, free: int, now: datetime) -> PredictionQuotaExceeded:
    reset = next_month_start(now)
    remedy = "" if batch.is_partial or not free else " Send partial=true to predict that many."
    return PredictionQuotaExceeded(
        f"The batch has {batch.total} lines, and {free} of the {account.predictions_per_month} "
        f"predictions of plan {account.plan} are left this month.{remedy} The count starts again "
        f"on {reset_text(reset)}; a larger plan lifts the limit.",
        whole_seconds(reset - now),
    )
