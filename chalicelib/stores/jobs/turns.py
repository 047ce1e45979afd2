"""Gives out turns: a lane's counter stands at the job that began last, an account's at its newest.

A new job is placed behind what its account has waiting and level with what is beginning now, so an
account that sends a hundred jobs at once stands with the first of them before the others only.
"""

from __future__ import annotations

from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.jobs.turns import Turn
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.tables import CounterRow

INGEST, TRAIN = "ingest", "train"


def lane_of(kind: str, *, is_paid: bool) -> str:
    """Name the lane of a kind of job, INGEST or TRAIN, for an account that pays or does not."""
    return f"{kind}-{'paid' if is_paid else 'free'}"


# Where uploads wait; the first lane goes before the second.
INGEST_LANES = lane_of(INGEST, is_paid=True), lane_of(INGEST, is_paid=False)
# Where trainings wait; the first lane goes before the second, and has workers of its own too.
TRAIN_LANES = lane_of(TRAIN, is_paid=True), lane_of(TRAIN, is_paid=False)


@translate_errors
class TurnStore:
    """Counts turns, by lane and by account in a lane."""

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def take(self, lane: str, account_id: str) -> Turn:
        """Place a new job of an account; a repeated call leaves a gap."""
        level = self._level(lane)
        row = _row(lane, account_id)
        while True:
            # One of both conditions holds, unless another job of the account comes in between.
            if try_update(row, [CounterRow.value.add(1)], CounterRow.value >= level):
                return Turn(lane, int(row.value))
            behind = CounterRow.value.does_not_exist() | (CounterRow.value < level)
            if try_update(row, [CounterRow.value.set(level)], behind):
                return Turn(lane, level)

    def begin(self, turn: Turn) -> None:
        """Note that a job begins; a lane never goes back."""
        earlier = CounterRow.value.does_not_exist() | (CounterRow.value < turn.number)
        try_update(_row(turn.lane), [CounterRow.value.set(turn.number)], earlier)

    def delete(self, account_id: str) -> None:
        """Forget an account that is gone."""
        for lane in INGEST_LANES + TRAIN_LANES:
            _row(lane, account_id).delete()

    def _level(self, lane: str) -> int:
        """Return the turn of the job that began last; a new lane begins at the present moment.

        So the jobs of stacks that had no turns, which stand at the times when they were queued,
        come first.
        """
        row = _row(lane)
        missing = CounterRow.value.does_not_exist()
        try:
            row.refresh(consistent_read=True)
        except CounterRow.DoesNotExist:
            now = to_milliseconds(self._clock())
            if try_update(row, [CounterRow.value.set(now)], missing):
                return now
            row.refresh(consistent_read=True)
        return int(row.value)


def _row(*names: str) -> CounterRow:
    return CounterRow("#".join(("turn", *names)))
