"""Monthly allowances: what is left, counting calls that succeed, giving them back. Spec: Limits.

One line is written for each prediction that a call asks for: what became of it, and in which
month. `python -m infra.accounts audit` compares these lines with the counters.
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

# Of a month's predictions: its account may be told when so many percent are used.
NOTED_PERCENTS = (80, 100)
# Tells an account that so many percent of a month's predictions are used.
NoteQuota = Callable[["Account", int, str], None]
# Predictions that are counted while they are made, at a time; further ones wait.
COUNTED_AT_ONCE = 64
# Accounts that are remembered as refused.
MOST_REFUSED = 10_000
# Kinds of calls that are counted.
PREDICTIONS, EXAMPLES = "predictions", "examples"
# Examples shown for review, which are counted by the day.
BROWSED = "browsed"

# What became of a prediction that a call asked for; UNKNOWN may be counted or not.
COUNTED, GIVEN_BACK, REFUSED, UNKNOWN = "counted", "given_back", "refused", "unknown"
# How an UNKNOWN one may be settled, other than by giving it back.
NEVER_COUNTED = "never_counted"
OUTCOMES = (COUNTED, GIVEN_BACK, REFUSED, UNKNOWN)
# How long a month's counter is kept after its end: more than a year to look back on.
KEPT_AFTER_RESET = timedelta(days=400)


def month_start(now: datetime) -> datetime:
    """First moment of the month, UTC."""
    return datetime(now.year, now.month, 1, tzinfo=UTC)


def next_month_start(now: datetime) -> datetime:
    """First moment of the next month, UTC; the reset date of allowances."""
    years, month = divmod(now.month, 12)
    return datetime(now.year + years, month + 1, 1, tzinfo=UTC)


def month_key(now: datetime) -> str:
    """Name of the month in quota rows, for example `2026-11`."""
    return f"{now.year:04d}-{now.month:02d}"


def percents_passed(limit: int, before: int, after: int) -> list[int]:
    """Tell which of the noted percents of an allowance are reached between two counts."""
    marks = {percent: math.ceil(limit * percent / 100) for percent in NOTED_PERCENTS}
    return [percent for percent, mark in marks.items() if before < mark <= after]


def new_token() -> str:
    """Name one call that is counted, by the time and at random."""
    return f"{int(time.time()):x}-{secrets.token_hex(6)}"


def token_age(token: str) -> float:
    """Return how long ago a call was named, in seconds."""
    return time.time() - int(token.partition("-")[0], 16)


@dataclass(frozen=True)
class Usage:
    """How much of a monthly allowance is used; a snapshot."""

    limit: int
    """Calls allowed in the month."""
    used: int
    """Calls counted so far."""
    starts_at: datetime
    """First moment of the month."""
    resets_at: datetime
    """First moment of the next month."""

    @property
    def remaining(self) -> int:
        """Calls left, never negative."""
        return max(0, self.limit - self.used)


class Counters(Protocol):
    """Calls counted by account, kind and month; never beyond a limit, however many callers."""

    def reserve(
        self,
        account_id: str,
        kind: str,
        month: str,
        limit: int,
        expires_at: datetime,
        token: str,
    ) -> int | None:
        """Count one call, and return how many are counted now; None when the limit is reached."""

    def release(self, account_id: str, kind: str, month: str, token: str) -> bool:
        """Take one call back; False when it is not known whether it is still counted."""

    def keep(self, account_id: str, kind: str, month: str, token: str) -> None:
        """Let one call stay counted."""

    def settle(self, job: SettleJob) -> None:
        """Take back the call that a job names, if it was counted."""

    def used(self, account_id: str, kind: str, month: str) -> int:
        """Return how many calls are counted."""

    def add(
        self, account_id: str, kind: str, day: str, count: int, limit: int, expires_at: datetime
    ) -> bool:
        """Count records of a day; False when the limit would be passed."""


class Reservation:
    """One call of a monthly allowance: what was counted for it, and what became of that."""

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
        """Month in whose counter it stands."""
        self.outcome = UNKNOWN
        """COUNTED, GIVEN_BACK, REFUSED or UNKNOWN."""
        self._began = time.perf_counter()

    def count(self, limit: int) -> Usage | None:
        """Count the call, and return the allowance with it; None when the limit is reached.

        Raises:
            StorageUnavailable: it could not be counted.
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
        """Note that the work begins now, and did not begin with the reservation."""
        self._began = time.perf_counter()

    def release(self) -> None:
        """Take the call back, if it was counted, into the month it was counted in."""
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
        """End it: give the call back after an error, and write down what became of a prediction."""
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
        """Return the figures that the outcome of a prediction adds to."""
        if self.outcome == COUNTED:
            values = {metrics.PREDICTIONS: 1, metrics.ENGINE_MILLISECONDS: milliseconds}
            return metrics.embedded(values, Type=model_type)
        if self.outcome == GIVEN_BACK:
            return metrics.embedded({metrics.PREDICTIONS_GIVEN_BACK: 1}, Type=model_type)
        if self.outcome == REFUSED:
            return metrics.embedded({metrics.QUOTA_REFUSALS: 1}, Kind=self._kind)
        return {}


class _OpenAnswer(ExitStack):
    """An answer being made: when it ends, so do the calls that are counted for it."""

    def __init__(self, operation: str) -> None:
        super().__init__()
        self.operation = operation


# None where nobody waits for an answer.
_ANSWER: ContextVar[_OpenAnswer | None] = ContextVar("presage_answer", default=None)


@contextmanager
def until_answered(operation: str) -> Iterator[None]:
    """Keep what is counted within open until the block ends: if that fails, it is given back.

    The work may be done and its answer still fail, while it is written for the caller.

    Args:
        operation: the call that is answered, as lines of the log name it.
    """
    answer = _OpenAnswer(operation)
    token = _ANSWER.set(answer)
    try:
        with answer:
            yield
    finally:
        _ANSWER.reset(token)


class Allowances:
    """Counts predictions and calls that return examples against what accounts may do a month.

    Work stands in a `with` block, which counts it first and gives it back when it fails, or when
    the answer fails that it was done for (`until_answered`).
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
        # Accounts whose last prediction was refused: theirs are counted before the work.
        self._refused: dict[str, None] = {}

    def settle(self, job: SettleJob) -> None:
        """Take back a call whose outcome was not known when it was answered."""
        self._counters.settle(job)

    def predictions(self, account: Account) -> Usage:
        """Read the predictions of this month."""
        return self._predictions(account, self._clock())

    def predict(
        self, account: Account, model: ServedModel, work: Callable[[], Answer]
    ) -> tuple[Answer, Usage]:
        """Make a prediction while it is counted; first count it if the last one was refused.

        Args:
            account: who asks.
            model: what predicts.
            work: makes the prediction; what it made is thrown away when none was left.

        Returns:
            The prediction, and the predictions of the month with this one.

        Raises:
            PredictionQuotaExceeded: the plan's predictions of this month are used up.
            StorageUnavailable: it could not be counted.
        """
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
                # A prediction that was not left is refused, whatever became of the work.
                self._allowed(counting.result(), reservation, account, now)
                raise
            return answer, self._allowed(counting.result(), reservation, account, now)

    @contextmanager
    def prediction(self, account: Account, model: ServedModel) -> Iterator[Usage]:
        """Count a prediction that is made within, and write down what became of it.

        Yields:
            The predictions of the month, with this one.

        Raises:
            PredictionQuotaExceeded: the plan's predictions of this month are used up.
            StorageUnavailable: it could not be counted.
        """
        now = self._clock()
        reservation = Reservation(self._counters, account.account_id, PREDICTIONS, now, model)
        with _settled(reservation):
            usage = reservation.count(account.predictions_per_month)
            reservation.begin()
            yield self._allowed(usage, reservation, account, now)

    @contextmanager
    def example_call(self, account: Account) -> Iterator[None]:
        """Count a call that returns examples, unless what is done within fails.

        Raises:
            ExampleQuotaExceeded: the calls of this month are used up.
            StorageUnavailable: it could not be counted.
        """
        now, own = self._clock(), account.example_calls_per_month
        limit = self._example_calls_per_month if own is None else own
        reservation = Reservation(self._counters, account.account_id, EXAMPLES, now)
        if reservation.count(limit) is None:
            metrics.put({metrics.QUOTA_REFUSALS: 1}, Kind=EXAMPLES)
            raise _no_example_call_left(limit, now)
        with _settled(reservation):
            yield

    def browse(self, account: Account, records: int) -> None:
        """Count examples that are about to be shown for review.

        Raises:
            BrowseQuotaExceeded: with these it would be more than a day's.
            StorageUnavailable: they could not be counted.
        """
        now, limit = self._clock(), self._browsed_per_day
        tomorrow = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
        until = tomorrow + timedelta(days=1)
        day = f"{now:%Y-%m-%d}"
        if records and not self._counters.add(
            account.account_id, BROWSED, day, records, limit, until
        ):
            metrics.put({metrics.QUOTA_REFUSALS: 1}, Kind=BROWSED)
            raise BrowseQuotaExceeded(
                f"With these {records} examples you would have browsed more than the {limit:,} of "
                f"a day. The count starts again on {reset_text(tomorrow)}; a smaller count may "
                "still fit, and an export holds all examples of a dataset.",
                whole_seconds(tomorrow - now),
            )

    def _allowed(
        self, usage: Usage | None, reservation: Reservation, account: Account, now: datetime
    ) -> Usage:
        """Return the usage of a counted prediction, or refuse one beyond the allowance.

        A refusal tells what is really used.
        """
        if usage is not None:
            self._refused.pop(account.account_id, None)
            for percent in percents_passed(usage.limit, usage.used - 1, usage.used):
                self._note_quota(account, percent, month_key(now))
            return usage
        if len(self._refused) < MOST_REFUSED:
            self._refused[account.account_id] = None
        used = self._predictions(account, now)
        reservation.outcome = REFUSED
        raise _no_prediction_left(account, used, now)

    def _predictions(self, account: Account, now: datetime) -> Usage:
        """Read the predictions of the month that `now` lies in."""
        used = self._counters.used(account.account_id, PREDICTIONS, month_key(now))
        return Usage(account.predictions_per_month, used, month_start(now), next_month_start(now))


@contextmanager
def _settled(reservation: Reservation) -> Iterator[None]:
    """End a reservation: at once when the block fails, else with the answer it was made for."""
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
    """Whole seconds to wait, at least one."""
    return max(1, math.ceil(duration.total_seconds()))


def reset_text(moment: datetime) -> str:
    """Write when a count starts again."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
