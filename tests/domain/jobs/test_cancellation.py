"""Stopping work whose lease is lost or whose time is up."""

from __future__ import annotations

import pytest

from chalicelib.domain.jobs.lease import Cancellation
from chalicelib.errors import LeaseLost, TimedOut
from tests.conftest import MovableClock


def nothing() -> None:
    """Hold the lease."""


def test_time_that_is_given(clock: MovableClock) -> None:
    """Work continues until its time is up, and no longer."""
    cancellation = Cancellation(nothing, clock, 25.0)
    assert cancellation.remaining_seconds == 25
    clock.advance(seconds=25)
    cancellation.check()
    assert cancellation.remaining_seconds == 0
    clock.advance(seconds=0.001)

    with pytest.raises(TimedOut, match="the queue delivers"):
        cancellation.check()
    assert cancellation.remaining_seconds == 0


@pytest.mark.parametrize("seconds", [0.0, float("inf")])
def test_no_limit(clock: MovableClock, seconds: float) -> None:
    """Without a limit work is never stopped for time."""
    cancellation = Cancellation(nothing, clock, seconds)
    clock.advance(days=365)

    cancellation.check()
    assert cancellation.remaining_seconds == float("inf")


def test_lease_comes_first(clock: MovableClock) -> None:
    """A lost lease is reported before a timeout."""

    def lost() -> None:
        """Report a lost lease."""
        raise LeaseLost

    cancellation = Cancellation(lost, clock, 1.0)
    clock.advance(seconds=9)

    with pytest.raises(LeaseLost):
        cancellation.check()
