"""Rate limits by plan and cost class."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chalicelib.domain.accounts.account import ACTIVE, PLANS, Account
from chalicelib.domain.accounts.rates import COSTS, DOCUMENTS, RATES, RECORDS, Rate, RateLimits
from chalicelib.errors import RateExceeded, StorageUnavailable

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
ACCOUNT = Account("2", "a@example.test", "STARTER", "HEROKU", ACTIVE, (), "LICENSEIDX", NOW)


class Bucket:
    """A bucket of a number of calls that never refills, and counts draws."""

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.draws: list[tuple[str, str, int]] = []
        self.is_reachable = True

    def draw(self, account_id: str, cost: str, rate: Rate, wanted: int, now: datetime) -> int:
        """Give what is left."""
        self.draws.append((account_id, cost, wanted))
        if not self.is_reachable:
            raise StorageUnavailable
        given = min(wanted, self.calls)
        self.calls -= given
        return given


def passes(limits: RateLimits, count: int, account: Account = ACCOUNT, cost: str = RECORDS) -> int:
    """Make calls, and count those that pass."""
    passed = 0
    for _ in range(count):
        try:
            limits.check(account, cost)
        except RateExceeded:
            continue
        passed += 1
    return passed


def test_every_plan_has_a_rate_for_every_cost() -> None:
    """Every plan has a rate for every cost, and a more expensive plan is not slower."""
    names = {name for plans in PLANS.values() for name in plans}

    assert set(RATES) == names
    for rates in RATES.values():
        assert set(rates) == set(COSTS)
        assert all(rates[cost] >= RATES["STARTER"][cost] for cost in COSTS)


def test_calls_are_drawn_in_blocks(clock) -> None:
    """A process draws calls for a second at once, so that few calls touch the row."""
    bucket = Bucket(10_000)

    assert passes(RateLimits(bucket, clock), 1000) == 1000
    assert bucket.draws == [("2", RECORDS, 50)] * 20


def test_empty_bucket_is_asked_seldom(clock) -> None:
    """While the bucket is empty the row is read rarely."""
    bucket = Bucket(50)
    limits = RateLimits(bucket, clock)

    assert passes(limits, 1000) == 50
    assert len(bucket.draws) == 2
    clock.advance(seconds=1)
    assert passes(limits, 1000) == 0
    assert len(bucket.draws) == 3


def test_last_calls_are_spent_evenly(clock) -> None:
    """In a flood, refilled calls are admitted evenly and not in bursts."""
    bucket = Bucket(50)
    limits = RateLimits(bucket, clock)
    passes(limits, 51)
    passed = []
    for number in range(100):
        clock.advance(seconds=0.02)
        bucket.calls += number % 10 // 9 * 10
        passed.append(passes(limits, 50))

    assert all(count <= 2 for count in passed)
    assert 60 <= sum(passed) <= 100


def test_rest_of_scarce_calls_is_kept(clock) -> None:
    """Calls that a slow caller has not used within a second are kept."""
    bucket = Bucket(50)
    limits = RateLimits(bucket, clock)
    passes(limits, 51)
    bucket.calls = 10
    for _ in range(10):
        clock.advance(seconds=1)
        assert passes(limits, 1) == 1
    assert bucket.calls == 0


def test_refusal_names_limit_plan_and_remedy(clock) -> None:
    """A refusal has limit, plan and remedy."""
    with pytest.raises(RateExceeded) as caught:
        RateLimits(Bucket(0), clock).check(ACCOUNT, DOCUMENTS)

    error = caught.value
    assert (error.status, error.code, error.retry_after_seconds) == (429, "rate_exceeded", 1)
    assert error.message == (
        "All 200 documents to read that plan STARTER may make at once are used up; 2 a second "
        f"are added. Try again after {clock():%Y-%m-%d %H:%M}:01 UTC, and send fewer in the same "
        "time; a larger plan lifts the limit."
    )


def test_unreachable_rows_let_calls_pass(clock, lines) -> None:
    """If the row cannot be reached, calls are admitted, logged, and the row is retried rarely."""
    bucket = Bucket(0)
    bucket.is_reachable = False

    assert passes(RateLimits(bucket, clock), 100) == 100
    assert len(bucket.draws) == 2
    assert [line["event"] for line in lines()] == ["rate_unknown"] * 2


def test_accounts_and_costs_do_not_share(clock) -> None:
    """Accounts and cost classes have separate buckets."""
    bucket = Bucket(10_000)
    limits = RateLimits(bucket, clock)
    for account, cost in ((ACCOUNT, RECORDS), (replace(ACCOUNT, account_id="3"), RECORDS)):
        limits.check(account, cost)
    limits.check(ACCOUNT, DOCUMENTS)

    assert bucket.draws == [("2", RECORDS, 50), ("3", RECORDS, 50), ("2", DOCUMENTS, 2)]


def test_larger_plan_counts_at_once(clock) -> None:
    """After a change of plan an account that was refused is admitted at once."""
    bucket = Bucket(0)
    limits = RateLimits(bucket, clock)
    assert passes(limits, 1) == 0

    bucket.calls = 1000
    assert passes(limits, 1, replace(ACCOUNT, plan="GOLD")) == 1


def test_factor(clock) -> None:
    """A factor of 0 disables rates; others scale them, to at least one call."""
    bucket = Bucket(0)
    assert passes(RateLimits(bucket, clock, 0), 100) == 100
    assert bucket.draws == []

    passes(RateLimits(bucket, clock, 0.001), 1)
    passes(RateLimits(bucket, clock, 2), 1)
    assert [wanted for _, _, wanted in bucket.draws] == [1, 100]


def test_clock_that_is_set_back_refuses_no_call(clock) -> None:
    """Calls are not refused because the clock was ahead by an hour before."""
    bucket = Bucket(0)
    limits = RateLimits(bucket, clock)
    assert passes(limits, 1) == 0

    clock.advance(hours=-1)
    bucket.calls = 1
    assert passes(limits, 1) == 1
