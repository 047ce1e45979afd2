"""One line for each prediction that a call asks for: what became of it, and in which month.

`python -m infra.accounts audit` compares these lines with the counters.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib import log, metrics
from chalicelib.domain.accounts.usage import COUNTED, GIVEN_BACK, REFUSED, UNKNOWN, Usage, month_key
from chalicelib.errors import PredictionQuotaExceeded, ServiceError

if TYPE_CHECKING:
    from chalicelib.domain.models.model import ServedModel


class Metering:
    """One prediction, from before it is counted until its call is answered."""

    def __init__(self, model: ServedModel, now: datetime) -> None:
        self._model = model
        self._month = month_key(now)
        self._outcome = UNKNOWN
        self._began = time.perf_counter()

    def reserve(self, reserve: Callable[[], Usage]) -> Usage:
        """Count the prediction by what is given, and note how that went.

        Raises:
            PredictionQuotaExceeded: none is left this month.
        """
        try:
            usage = reserve()
        except PredictionQuotaExceeded:
            self._outcome = REFUSED
            raise
        self._outcome, self._month = COUNTED, month_key(usage.starts_at)
        self._began = time.perf_counter()
        return usage

    def give_back(self, give_back: Callable[[], bool]) -> None:
        """Take the prediction back by what is given, and note how that went.

        Raises:
            ServiceError: it may still be counted.
        """
        try:
            self._outcome = GIVEN_BACK if give_back() else UNKNOWN
        except ServiceError:
            self._outcome = UNKNOWN
            raise

    def write(self, family: str) -> None:
        """Write the line."""
        milliseconds = round(1000 * (time.perf_counter() - self._began), 3)
        log.record(
            "prediction",
            model=self._model.model_id,
            type=self._model.type,
            family=family,
            month=self._month,
            outcome=self._outcome,
            milliseconds=milliseconds,
            **self._figures(milliseconds),
        )

    def _figures(self, milliseconds: float) -> dict[str, object]:
        """Return the figures that the outcome adds to."""
        if self._outcome == COUNTED:
            values = {metrics.PREDICTIONS: 1, metrics.ENGINE_MILLISECONDS: milliseconds}
            return metrics.embedded(values, Type=self._model.type)
        if self._outcome == GIVEN_BACK:
            return metrics.embedded({metrics.PREDICTIONS_GIVEN_BACK: 1}, Type=self._model.type)
        if self._outcome == REFUSED:
            return metrics.embedded({metrics.QUOTA_REFUSALS: 1}, Kind="predictions")
        return {}
