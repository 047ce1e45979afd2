"""Monthly allowances: counts calls before they run, and subtracts failed calls.

Each prediction writes one log line with its outcome and month. `python -m infra.accounts audit`
compares these lines with the counters.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol, TypeVar

from chalicelib import log, metrics
from chalicelib.domain.common.head_calls import current_head_call
from chalicelib.errors import (
    BrowseQuotaExceeded,
    ExampleQuotaExceeded,
    PredictionQuotaExceeded,
    ServiceError,
)

if TYPE_CHECKING:
    from chalicelib.domain.accounts.account import Account
    from chalicelib.domain.common.clock import Clock
    from chalicelib.domain.jobs.messages import SettleJob
    from chalicelib.domain.models.model import ServedModel

Answer = TypeVar("Answer")

# An account can be notified when this many percent of its monthly predictions are used.
NOTED_PERCENTS = (80, 100)
# Notifies an account that a percentage of its monthly predictions is used.
NoteQuota = Callable[["Account", int, str], None]
# Predictions that are counted in the background at a time; more wait.
COUNTED_AT_ONCE = 64
# Maximum number of accounts that a process remembers as refused.
MOST_REFUSED = 10_000
# Kinds of calls that are counted.
PREDICTIONS, EXAMPLES = "predictions", "examples"
# Examples shown for review. They are counted by day, not by month.
BROWSED = "browsed"

# Outcomes of counting a prediction. UNKNOWN means that the prediction may be counted or not.
COUNTED, GIVEN_BACK, REFUSED, UNKNOWN = "counted", "given_back", "refused", "unknown"
# Settled outcome of an UNKNOWN prediction that turned out not to be counted.
NEVER_COUNTED = "never_counted"
OUTCOMES = (COUNTED, GIVEN_BACK, REFUSED, UNKNOWN)
# A month's counter expires more than a year after its end, so that the past year can be viewed.
KEPT_AFTER_RESET = timedelta(days=400)


def month_start(now: datetime) -> datetime:
    """Return the first moment of the month that contains `now`, UTC."""
    return datetime(now.year, now.month, 1, tzinfo=UTC)


def next_month_start(now: datetime) -> datetime:
    """Return the first moment of the next month, UTC, at which allowances are reset."""
    years, month = divmod(now.month, 12)
    return datetime(now.year + years, month + 1, 1, tzinfo=UTC)


def month_key(now: datetime) -> str:
    """Return the name of the month of `now` in quota rows, for example `2026-11`."""
    return f"{now.year:04d}-{now.month:02d}"


def percents_passed(limit: int, before: int, after: int) -> list[int]:
    """Return the percentages in NOTED_PERCENTS that a growing usage has just reached.

    The usage grew from `before` to `after` calls. A usage of `limit` calls is 100 %.
    """
    marks = {percent: math.ceil(limit * percent / 100) for percent in NOTED_PERCENTS}
    return [percent for percent, mark in marks.items() if before < mark <= after]


def new_token() -> str:
    """Return a unique id for a counted call. The id begins with the current time."""
    return f"{int(time.time()):x}-{secrets.token_hex(6)}"


@dataclass(frozen=True)
class Usage:
    """The limit of a monthly allowance, and how much of it was used at one moment."""

    limit: int
    used: int
    starts_at: datetime
    resets_at: datetime

    @property
    def remaining(self) -> int:
        """Return the calls left, never negative."""
        return max(0, self.limit - self.used)


class Counters(Protocol):
    """Counts calls by account, kind and month; simultaneous calls never exceed a limit."""

    def reserve(
        self,
        account_id: str,
        kind: str,
        month: str,
        limit: int,
        expires_at: datetime,
        token: str,
    ) -> int | None:
        """Count one call; return the new number of calls, or None if the limit is reached."""

    def release(self, account_id: str, kind: str, month: str, token: str) -> bool:
        """Subtract one call from the counter; return False if it is unknown whether this worked."""

    def keep(self, account_id: str, kind: str, month: str, token: str) -> None:
        """Make the count of one call permanent, so that it cannot be released."""

    def settle(self, job: SettleJob) -> None:
        """Subtract the call that `job` names from its counter, if the call was counted."""

    def used(self, account_id: str, kind: str, month: str) -> int:
        """Return how many calls of a kind are counted for an account in a month."""

    def add(
        self, account_id: str, kind: str, day: str, count: int, limit: int, expires_at: datetime
    ) -> bool:
        """Count examples shown to an account on a day, unless their sum would exceed `limit`.

        Returns:
            Whether the examples were counted.
        """


class Reservation:
    """One call against a monthly allowance, and whether the call is counted."""

    def __init__(
        self,
        counters: Counters,
        account_id: str,
        kind: str,
        now: datetime,
        model: ServedModel | None = None,
    ) -> None:
        self._counters = counters
        self._counter = (account_id, kind, month_key(now))
        self._kind = kind
        self._now = now
        self._model = model
        self._token = new_token()
        self.month = month_key(now)
        self.outcome = UNKNOWN
        """COUNTED, GIVEN_BACK, REFUSED or UNKNOWN."""
        self._began = time.perf_counter()

    def count(self, limit: int) -> Usage | None:
        """Count the call; return the usage including this call, or None if the limit is reached.

        Raises:
            StorageUnavailable: the call could not be counted.
        """
        starts_at, resets_at = month_start(self._now), next_month_start(self._now)
        used = self._counters.reserve(
            *self._counter, limit, resets_at + KEPT_AFTER_RESET, self._token
        )
        if used is None:
            return None
        self.outcome = COUNTED
        return Usage(limit, used, starts_at, resets_at)

    def begin(self) -> None:
        """Start to measure the duration of the call, after the call has been counted."""
        self._began = time.perf_counter()

    def release(self) -> None:
        """Subtract the call from the month in which it was counted, if it was counted at all."""
        if self.outcome != COUNTED:
            return
        self.outcome, answer = UNKNOWN, _ANSWER.get()
        try:
            if self._counters.release(*self._counter, self._token):
                self.outcome = GIVEN_BACK
        except ServiceError as error:
            names = {"kind": self._kind} if answer is None else {"operation": answer.operation}
            log.error("reservation_not_given_back", error, **names)

    def settle(self, error: BaseException | None = None) -> None:
        """End the reservation: release it after an error, otherwise make the count permanent.

        The outcome of a prediction is logged.
        """
        if isinstance(error, Exception):
            self.release()
        elif self.outcome == COUNTED:
            self._counters.keep(*self._counter, self._token)
        if self._model is not None:
            self._write_line(self._model)

    def _write_line(self, model: ServedModel) -> None:
        milliseconds = round(1000 * (time.perf_counter() - self._began), 3)
        log.record(
            "prediction",
            model=model.model_id,
            type=model.type,
            family=model.family,
            month=self.month,
            outcome=self.outcome,
            milliseconds=milliseconds,
            **self._figures(model.type, milliseconds),
        )

    def _figures(self, model_type: str, milliseconds: float) -> dict[str, object]:
        if self.outcome == COUNTED:
            values = {metrics.PREDICTIONS: 1, metrics.ENGINE_MILLISECONDS: milliseconds}
            return metrics.embedded(values, Type=model_type)
        if self.outcome == GIVEN_BACK:
            return metrics.embedded({metrics.PREDICTIONS_GIVEN_BACK: 1}, Type=model_type)
        if self.outcome == REFUSED:
            return metrics.embedded({metrics.QUOTA_REFUSALS: 1}, Kind=self._kind)
        return {}


class _OpenAnswer(ExitStack):
    """The exit stack of a running API call. If the call fails, the stack undoes its counts."""

    def __init__(self, operation: str) -> None:
        super().__init__()
        self.operation = operation


# None outside of a call that is answered, as in background jobs.
_ANSWER: ContextVar[_OpenAnswer | None] = ContextVar("presage_answer", default=None)


@contextmanager
def until_answered(operation: str) -> Iterator[None]:
    """Undo the counts made in the `with` block if the block fails.

    The block runs a whole API call. The call can fail after its counted work has succeeded, for
    example while the answer is encoded.

    `operation` is the name of the operation in log lines.
    """
    answer = _OpenAnswer(operation)
    token = _ANSWER.set(answer)
    try:
        with answer:
            yield
    finally:
        _ANSWER.reset(token)


class Allowances:
    """Counts predictions, and calls that return examples, against the monthly limits.

    The work of a call runs in a `with` block. The call is counted before the work. The count is
    undone if the work fails, or if the answer to the call fails later (see `until_answered`).
    """

    def __init__(
        self,
        counters: Counters,
        clock: Clock,
        example_calls_per_month: int,
        browsed_per_day: int = 1_000_000,
        note_quota: NoteQuota = lambda *_: None,
    ) -> None:
        self._note_quota = note_quota
        self._counters = counters
        self._clock = clock
        self._example_calls_per_month = example_calls_per_month
        self._browsed_per_day = browsed_per_day
        self._counting = ThreadPoolExecutor(COUNTED_AT_ONCE, thread_name_prefix="count")
        # Accounts whose last prediction was refused. Their next prediction is counted before the
        # work.
        self._refused: dict[str, None] = {}

    def settle(self, job: SettleJob) -> None:
        """Subtract the call that `job` names from its counter, if the call was counted."""
        self._counters.settle(job)

    def predictions(self, account: Account) -> Usage:
        """Return the prediction usage of this month."""
        return self._predictions(account, self._clock())

    def predict(
        self, account: Account, model: ServedModel, work: Callable[[], Answer]
    ) -> tuple[Answer, Usage]:
        """Run `work` and count its result as one prediction.

        The result of `work` is discarded when the account has no prediction left.

        Returns:
            The result of `work`, and the month's usage including this prediction.

        Raises:
            PredictionQuotaExceeded: the plan's predictions of this month are used up.
            StorageUnavailable: the prediction could not be counted.
        """
        # The last prediction of this account was refused, so the work would probably be wasted. For
        # other accounts, the call is counted during the work.
        if account.account_id in self._refused:
            with self.prediction(account, model) as usage:
                return work(), usage
        now = self._clock()
        reservation = Reservation(self._counters, account.account_id, PREDICTIONS, now, model)
        with _settled(reservation):
            counting = self._counting.submit(
                copy_context().run, reservation.count, account.predictions_per_month
            )
            try:
                answer = work()
            except Exception:
                # Without a prediction left the call is refused, even if the work failed.
                self._allowed(counting.result(), reservation, account, now)
                raise
            return answer, self._allowed(counting.result(), reservation, account, now)

    @contextmanager
    def prediction(self, account: Account, model: ServedModel) -> Iterator[Usage]:
        """Count the prediction made in the `with` block, and log its outcome.

        Yields:
            The month's usage, including this prediction.

        Raises:
            PredictionQuotaExceeded: the plan's predictions of this month are used up.
            StorageUnavailable: the prediction could not be counted.
        """
        now = self._clock()
        reservation = Reservation(self._counters, account.account_id, PREDICTIONS, now, model)
        with _settled(reservation):
            usage = reservation.count(account.predictions_per_month)
            reservation.begin()
            yield self._allowed(usage, reservation, account, now)

    @contextmanager
    def example_call(self, account: Account) -> Iterator[None]:
        """Count a call that returns examples; subtract the call if the `with` block fails.

        Raises:
            ExampleQuotaExceeded: the calls of this month are used up.
            StorageUnavailable: the call could not be counted.
        """
        now, own = self._clock(), account.example_calls_per_month
        limit = self._example_calls_per_month if own is None else own
        reservation = Reservation(self._counters, account.account_id, EXAMPLES, now)
        if current_head_call():
            is_allowed = self._counters.used(account.account_id, EXAMPLES, month_key(now)) < limit
        else:
            is_allowed = reservation.count(limit) is not None
        if not is_allowed:
            metrics.put({metrics.QUOTA_REFUSALS: 1}, Kind=EXAMPLES)
            raise _no_example_call_left(limit, now)
        with _settled(reservation):
            yield

    def browse(self, account: Account, records: int) -> None:
        """Count `records` examples that are about to be shown for review.

        Raises:
            BrowseQuotaExceeded: the examples would exceed the limit of the day.
            StorageUnavailable: the examples could not be counted.
        """
        if not records:
            return
        now, limit = self._clock(), self._browsed_per_day
        tomorrow = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
        until = tomorrow + timedelta(days=1)
        day = f"{now:%Y-%m-%d}"
        if current_head_call():
            used = self._counters.used(account.account_id, BROWSED, day)
            is_allowed = used + records <= limit
        else:
            is_allowed = self._counters.add(account.account_id, BROWSED, day, records, limit, until)
        if not is_allowed:
            metrics.put({metrics.QUOTA_REFUSALS: 1}, Kind=BROWSED)
            raise BrowseQuotaExceeded(
                f"These {records} examples would exceed the {limit:,} that you may browse in a "
                f"day. The count starts again on {reset_text(tomorrow)}; a smaller count may "
                "still fit, and an export holds all examples of a dataset.",
                whole_seconds(tomorrow - now),
            )

    def _allowed(
        self, usage: Usage | None, reservation: Reservation, account: Account, now: datetime
    ) -> Usage:
        if usage is not None:
            self._refused.pop(account.account_id, None)
            for percent in percents_passed(usage.limit, usage.used - 1, usage.used):
                self._note_quota(account, percent, month_key(now))
            return usage
        if len(self._refused) < MOST_REFUSED:
            self._refused[account.account_id] = None
        # A refusal reports the usage as stored now.
        used = self._predictions(account, now)
        reservation.outcome = REFUSED
        raise _no_prediction_left(account, used, now)

    def _predictions(self, account: Account, now: datetime) -> Usage:
        used = self._counters.used(account.account_id, PREDICTIONS, month_key(now))
        return Usage(account.predictions_per_month, used, month_start(now), next_month_start(now))


@contextmanager
def _settled(reservation: Reservation) -> Iterator[None]:
    """End a reservation at the end of the API call, or at once if the `with` block fails."""
    try:
        yield
    except Exception as error:
        reservation.settle(error)
        raise
    answer = _ANSWER.get()
    if answer is None:
        reservation.settle()
    else:
        answer.push(lambda _, error, __: reservation.settle(error))


def _no_prediction_left(account: Account, usage: Usage, now: datetime) -> PredictionQuotaExceeded:
    return PredictionQuotaExceeded(
        "You've reached the maximum number of predictions for the current calendar month: "
        f"{usage.used} of {usage.limit} used on plan {account.plan}. The count starts again on "
        f"{reset_text(usage.resets_at)}; a larger plan lifts the limit.",
        whole_seconds(usage.resets_at - now),
    )


def _no_example_call_left(limit: int, now: datetime) -> ExampleQuotaExceeded:
    resets_at = next_month_start(now)
    return ExampleQuotaExceeded(
        f"You've used all {limit} calls of this month that return examples. "
        f"The count starts again on {reset_text(resets_at)}.",
        whole_seconds(resets_at - now),
    )


def whole_seconds(duration: timedelta) -> int:
    """Return a duration in seconds, rounded up; at least 1."""
    return max(1, math.ceil(duration.total_seconds()))


def reset_text(moment: datetime) -> str:
    """Return `moment`, when an allowance is reset, as text for messages, in UTC."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
