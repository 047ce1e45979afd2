"""The interval between saves of the local stack's data."""

from __future__ import annotations

import pytest

from infra.local.snapshots import pause_after


@pytest.mark.parametrize("took", [0.0, 0.5, 5.0, 15.0, 20.0])
def test_a_write_is_saved_within_the_time(took: float) -> None:
    """A write right after a dump began is in the next dump, which ends in time."""
    assert took + pause_after(took, 60.0) + took <= 60.0


@pytest.mark.parametrize("took", [25.0, 90.0])
def test_long_dumps_leave_time_between_them(took: float) -> None:
    """After a long dump the next one does not follow at once."""
    assert pause_after(took, 60.0) >= took


def test_short_dumps_are_not_made_more_often_than_needed() -> None:
    """Quick dumps stand far apart."""
    assert pause_after(0.1, 60.0) > 50.0
