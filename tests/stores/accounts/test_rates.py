"""Rate-limit buckets shared by many processes never give more than they hold."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from chalicelib.domain.accounts.account import ACTIVE, Account
from chalicelib.domain.accounts.rates import BURST_SECONDS, RATES, RECORDS, Rate, RateLimits
from chalicelib.errors import RateExceeded, StorageUnavailable
from chalicelib.stores.accounts.rates import RateStore
from chalicelib.stores.aws.tables import QuotaRow

RATE = Rate(2)
NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
ACCOUNT = Account("2", "a@example.test", "STARTER", "HEROKU", ACTIVE, (), "LICENSEIDX", NOW)
PER_SECOND = RATES["STARTER"][RECORDS]
PROCESSES = 50


@pytest.fixture
def store(clients) -> RateStore:
    """A store on an empty table."""
    return RateStore(clients)


def draw(store, clock, wanted: int, account_id: str = "2") -> int:
    """Draw from a bucket of 200 calls that refills at two a second."""
    return store.draw(account_id, RECORDS, RATE, wanted, clock())


def test_bucket_gives_what_it_holds_and_no_more(store, clock) -> None:
    """A new bucket is full; the rest is given in part, and an empty one gives nothing."""
    assert [draw(store, clock, 150) for _ in range(3)] == [150, 50, 0]
    assert draw(store, clock, 1, "3") == 1


def test_bucket_fills_with_time(store, clock) -> None:
    """A bucket refills at its rate up to its size."""
    draw(store, clock, 200)

    clock.advance(seconds=10)
    assert draw(store, clock, 100) == 20
    clock.advance(days=10)
    assert draw(store, clock, 1000) == 200


def test_clock_that_was_ahead_keeps_no_bucket_empty(store, clock) -> None:
    """A bucket emptied by a clock one hour ahead counts as full, and is then counted as usual."""
    clock.advance(hours=1)
    draw(store, clock, 200)
    clock.advance(hours=-1)

    assert [draw(store, clock, wanted) for wanted in (150, 150, 1)] == [150, 50, 0]
    QuotaRow("2", f"rate#{RECORDS}").update(actions=[QuotaRow.full_at.set(2**60)])
    assert draw(store, clock, 1) == 1


def test_clock_a_little_ahead_fills_no_bucket(store, clock) -> None:
    """A bucket emptied by a clock two seconds ahead is empty for other processes, too."""
    clock.advance(seconds=2)
    draw(store, clock, 200)
    clock.advance(seconds=-2)

    assert draw(store, clock, 1) == 0
    clock.advance(seconds=5)
    assert draw(store, clock, 100) == 6


def test_unused_row_expires(store, clock) -> None:
    """The row of an unused bucket expires after a day, because the bucket is full by then."""
    draw(store, clock, 1)

    row = QuotaRow.get("2", f"rate#{RECORDS}")
    assert row.expires_at == int(clock().timestamp()) + 86400


def test_other_process_comes_first(store, clock, monkeypatch) -> None:
    """A refused write is retried on the new state; endless conflicts are an error."""
    update, others = QuotaRow.update, []

    def come_first(row, *arguments, **options) -> object:
        """Let another process draw ten calls before the first two writes."""
        if len(others) < 2:
            others.append(1)
            update(
                QuotaRow("2", f"rate#{RECORDS}"),
                actions=[
                    QuotaRow.full_at.set(int(clock().timestamp() * 1e6) + len(others) * 10**7)
                ],
            )
        return update(row, *arguments, **options)

    monkeypatch.setattr(QuotaRow, "update", come_first)

    assert draw(store, clock, 500) == 160
    monkeypatch.setattr("chalicelib.stores.accounts.rates.try_update", lambda *_: False)
    clock.advance(seconds=100)
    with pytest.raises(StorageUnavailable):
        draw(store, clock, 1)


def processes(store, clock) -> list[RateLimits]:
    """Make fifty processes that share only the table."""
    return [RateLimits(store, clock) for _ in range(PROCESSES)]


def passed(limits: RateLimits) -> bool:
    """Make one call; return whether it was admitted."""
    try:
        limits.check(ACCOUNT, RECORDS)
    except RateExceeded:
        return False
    return True


@pytest.mark.parametrize("spread", ["even", "random", "one after the other"])
def test_fifty_processes_are_at_most_a_factor_of_two_off(store, clock, spread: str) -> None:
    """At ten times the rate, fifty processes admit half to twice of the allowed calls."""
    all_of_them, dice = processes(store, clock), random.Random(7)
    choose: dict[str, Callable[[int], int]] = {
        "even": lambda number: number % PROCESSES,
        "random": lambda _: dice.randrange(PROCESSES),
        "one after the other": lambda number: number // 600 % PROCESSES,
    }
    seconds, count, at_once = 14, 0, 0
    for number in range(seconds * PER_SECOND * 10):
        count += passed(all_of_them[choose[spread](number)])
        clock.advance(seconds=1 / (PER_SECOND * 10))
        if number == BURST_SECONDS * PER_SECOND:
            at_once = count

    allowed = PER_SECOND * (BURST_SECONDS + seconds)
    assert allowed / 2 <= count <= allowed * 2
    assert at_once >= BURST_SECONDS * PER_SECOND / 2

    # Once the bucket is empty, only the rate counts.
    before = count
    for number in range(5 * PER_SECOND * 10):
        count += passed(all_of_them[choose[spread](number)])
        clock.advance(seconds=1 / (PER_SECOND * 10))
    assert PER_SECOND * 5 / 2 <= count - before <= PER_SECOND * 5 * 2


def test_fifty_processes_refuse_no_call_below_the_rate(store, clock) -> None:
    """Calls at nine tenths of the rate are always admitted, whichever process they reach."""
    all_of_them, dice = processes(store, clock), random.Random(7)
    for _ in range(200 * PER_SECOND):
        assert passed(dice.choice(all_of_them))
        clock.advance(seconds=1 / (0.9 * PER_SECOND))


def test_one_client_writes_seldom(store, clock, clients) -> None:
    """A single client causes one write in fifty calls."""
    written: list[object] = []
    events = clients.dynamodb_once.meta.events
    events.register("before-call.dynamodb.UpdateItem", lambda **_: written.append(1))
    limits = RateLimits(store, clock)

    for _ in range(1000):
        assert passed(limits)
        clock.advance(seconds=0.01)

    assert len(written) == 1000 // PER_SECOND
