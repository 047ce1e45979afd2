"""Assigns turns to jobs (start-time fair queueing, see chalicelib/domain/jobs/turns.py).

The counter of a lane has the turn of the job that started last. The counter of an account has the
turn of its newest job. A new job gets the turn after that of its account's newest job, but at least
the turn of the lane. So if an account sends a hundred jobs at once, only the first of them runs
before jobs of other accounts.
"""

from __future__ import annotations

from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.jobs.turns import Turn
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.tables import CounterRow

INGEST, TRAIN = "ingest", "train"


def lane_of(kind: str, *, is_paid: bool) -> str:
    """Return the lane of a job of kind INGEST or TRAIN."""
    return f"{kind}-{'paid' if is_paid else 'free'}"


# Lanes of uploads; jobs of the first lane go before those of the second.
INGEST_LANES = lane_of(INGEST, is_paid=True), lane_of(INGEST, is_paid=False)
# Lanes of trainings; the first goes before the second and has separate workers, too.
TRAIN_LANES = lane_of(TRAIN, is_paid=True), lane_of(TRAIN, is_paid=False)


@translate_errors
class TurnStore:
    """Assigns jobs their turns, the positions at which they start in a queue lane."""

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def take(self, lane: str, account_id: str) -> Turn:
        """Assign a turn to a new job of an account. A retry of the write may skip a number."""
        level = self._level(lane)
        row = _row(lane, account_id)
        while True:
            # One of the two conditions is true, unless another job of the account comes in between.
            if try_update(row, [CounterRow.value.add(1)], CounterRow.value >= level):
                return Turn(lane, int(row.value))
            behind = CounterRow.value.does_not_exist() | (CounterRow.value < level)
            if try_update(row, [CounterRow.value.set(level)], behind):
                return Turn(lane, level)

    def begin(self, turn: Turn) -> None:
        """Store that a job starts. The counter of its lane never decreases."""
        earlier = CounterRow.value.does_not_exist() | (CounterRow.value < turn.number)
        try_update(_row(turn.lane), [CounterRow.value.set(turn.number)], earlier)

    def delete(self, account_id: str) -> None:
        """Delete the counters of a deleted account."""
        for lane in INGEST_LANES + TRAIN_LANES:
            _row(lane, account_id).delete()

    def _level(self, lane: str) -> int:
        """Return the turn of the last job that started in a lane."""
        row = _row(lane)
        missing = CounterRow.value.does_not_exist()
        try:
            row.refresh(consistent_read=True)
        except CounterRow.DoesNotExist:
            # A new lane starts at the current time. Jobs of older versions have their queueing
            # time in place of a turn, so they go first.
            now = to_milliseconds(self._clock())
            if try_update(row, [CounterRow.value.set(now)], missing):
                return now
            row.refresh(consistent_read=True)
        return int(row.value)


def _row(*names: str) -> CounterRow:
    return CounterRow("#".join(("turn", *names)))
