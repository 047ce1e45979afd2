"""Limits how many calls an account may make in a short time. The limit depends on plan and cost.

Each account and cost class has a token bucket in one row, shared by all processes. A token permits
one call. A process takes the tokens of one second at once, and counts in memory how many of them
are used. So few calls read or write the row. With up to 50 processes, the effective limit is
between half and twice the intended limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, NoReturn, Protocol

from chalicelib import log, metrics
from chalicelib.errors import RateExceeded, StorageUnavailable

if TYPE_CHECKING:
    from chalicelib.domain.accounts.account import Account
    from chalicelib.domain.common.clock import Clock

# The cost classes. Calls that read or write rows.
RECORDS = "records"
# Predictions of texts.
TEXTS = "texts"
# Calls that decode an image.
PICTURES = "pictures"
# Documents for OCR.
DOCUMENTS = "documents"
# Uploaded files, and forms for them.
UPLOADS = "uploads"
# Issued access tokens.
TOKENS = "tokens"
# Cost classes, with the name of their calls in error messages.
COSTS = {
    RECORDS: "calls of records",
    TEXTS: "predictions of texts",
    PICTURES: "calls with images",
    DOCUMENTS: "documents to read",
    UPLOADS: "uploads",
    TOKENS: "tokens",
}

_FREE = {RECORDS: 50, TEXTS: 50, PICTURES: 20, DOCUMENTS: 2, UPLOADS: 10, TOKENS: 20}
_MIDDLE = {RECORDS: 100, TEXTS: 100, PICTURES: 30, DOCUMENTS: 4, UPLOADS: 20, TOKENS: 40}
_LARGE = {RECORDS: 200, TEXTS: 200, PICTURES: 50, DOCUMENTS: 10, UPLOADS: 40, TOKENS: 80}
# Calls a second that an account can sustain, by plan and cost class.
RATES: Mapping[str, Mapping[str, int]] = {
    "STARTER": _FREE,
    "BRONZE": _FREE,
    "SILVER": _MIDDLE,
    "GOLD": _LARGE,
    "SFDC_1M_EDITION": _LARGE,
}
# A full bucket holds the tokens of 100 seconds, so an idle account may send a burst.
BURST_SECONDS = 100
# Seconds for which a process uses the tokens from an almost empty bucket, before it draws again.
SCARCE_SECONDS = 0.2
# The `Retry-After` of a refusal.
RETRY_SECONDS = 1
_BUCKETS = 4096  # One for each account and cost class that this process has seen lately.


@dataclass(frozen=True)
class Rate:
    """The rate at which a token bucket fills, and how many tokens the bucket can hold."""

    per_second: float
    burst_seconds: int = BURST_SECONDS
    """Number of seconds in which an empty bucket fills up."""

    @property
    def interval(self) -> timedelta:
        """Return the time in which the bucket gains one token."""
        return timedelta(seconds=1 / self.per_second)

    @property
    def block(self) -> int:
        """Return how many tokens a process takes from the shared bucket at once."""
        return max(1, int(self.per_second))

    @property
    def burst(self) -> int:
        """Return the number of tokens in a full bucket."""
        return max(1, round(self.per_second * self.burst_seconds))


# Tests of webhooks that an account may send a minute: each is a call to a foreign host.
TESTS_PER_MINUTE = 10
_TESTS = Rate(TESTS_PER_MINUTE / 60, 60)


class SharedBuckets(Protocol):
    """The stored buckets from which all processes take tokens. Each token permits one call."""

    def draw(self, account_id: str, cost: str, rate: Rate, max_tokens: int, now: datetime) -> int:
        """Take up to `max_tokens` tokens from a bucket; return the number of tokens taken."""


@dataclass
class _Drawn:
    """The tokens that this process has taken from the bucket of an account and cost class."""

    lock: Lock = field(default_factory=Lock)
    calls: int = 0
    spent: int = 0
    drawn_at: float = 0.0
    is_scarce: bool = False
    """Whether the process got fewer tokens than it wanted, because the bucket was nearly empty."""

    def is_due(self, now: float) -> bool:
        """Return whether this process must take tokens from the shared bucket again.

        Tokens are taken again once all are used. If the bucket was nearly empty, tokens are taken
        again after SCARCE_SECONDS. Tokens older than BURST_SECONDS are always replaced.
        """
        elapsed = now - self.drawn_at
        if not 0 <= elapsed < BURST_SECONDS:
            # These tokens are too old: the bucket has filled up again, as if they had never been
            # taken.
            self.calls = self.spent = 0
            return True
        return elapsed >= SCARCE_SECONDS if self.is_scarce else self.spent >= self.calls

    def spend(self, now: float) -> bool:
        # The last tokens of a bucket are spent evenly, so that a flood does not come in waves.
        share = (now - self.drawn_at) / SCARCE_SECONDS if self.is_scarce else 1.0
        if self.spent >= self.calls or self.spent > self.calls * share:
            return False
        self.spent += 1
        return True


class RateLimits:
    """Refuses calls of accounts that call too often. If the storage fails, it allows all calls."""

    def __init__(self, buckets: SharedBuckets, clock: Clock, factor: float = 1.0) -> None:
        """Create the limits; `factor` multiplies the rates of all plans, and 0 disables them."""
        self._buckets = buckets
        self._clock = clock
        self._factor = factor
        self._drawn = lru_cache(_BUCKETS)(lambda *_: _Drawn())

    def check(self, account: Account, cost: str) -> None:
        """Raise RateExceeded unless the account may make the call now.

        `cost` is the cost class of the call, one of COSTS.
        """
        if not self._factor:
            return
        rate = Rate(RATES[account.plan][cost] * self._factor)
        drawn, now = self._drawn(account.account_id, account.plan, cost), self._clock()
        # Calls that arrive while a block is drawn wait for it instead of drawing another.
        with drawn.lock:
            if drawn.is_due(now.timestamp()):
                self._draw(drawn, account, cost, rate, now)
            if not drawn.spend(now.timestamp()):
                _refuse(account, cost, rate, now)

    def check_webhook_test(self, account_id: str) -> None:
        """Raise RateExceeded unless an account may send a test event to a webhook now."""
        if not self._factor:
            return
        now = self._clock()
        try:
            # Drawn one at a time: a block in memory would let every process send a minute's worth.
            given = self._buckets.draw(account_id, "webhook-tests", _TESTS, 1, now)
        except StorageUnavailable:
            log.warning("rate_unknown", account=account_id, cost="webhook-tests")
            return
        if not given:
            seconds = 60 // TESTS_PER_MINUTE
            raise RateExceeded(
                f"All {TESTS_PER_MINUTE} tests of webhooks that an account may send a minute are "
                f"used up. Try again after {now + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S} "
                "UTC.",
                seconds,
            )

    def _draw(self, drawn: _Drawn, account: Account, cost: str, rate: Rate, now: datetime) -> None:
        left = drawn.calls - drawn.spent
        # Asking for two blocks shows whether an empty bucket has filled up again.
        wanted = rate.block * (2 if drawn.is_scarce else 1) - left
        try:
            given = self._buckets.draw(account.account_id, cost, rate, wanted, now)
        except StorageUnavailable:
            log.warning("rate_unknown", account=account.account_id, cost=cost)
            # An unavailable table must not refuse calls, so the block counts as drawn.
            given = wanted
        drawn.calls, drawn.spent, drawn.is_scarce = left + given, 0, given < wanted
        drawn.drawn_at = now.timestamp()


def _refuse(account: Account, cost: str, rate: Rate, now: datetime) -> NoReturn:
    metrics.put({metrics.QUOTA_REFUSALS: 1}, Kind=f"rate-{cost}")
    again = now + timedelta(seconds=RETRY_SECONDS)
    raise RateExceeded(
        f"All {rate.burst:,} {COSTS[cost]} that plan {account.plan} may make at once are used up; "
        f"{rate.per_second:g} a second are added. Try again after {again:%Y-%m-%d %H:%M:%S} UTC, "
        "and send fewer in the same time; a larger plan lifts the limit.",
        RETRY_SECONDS,
    )
