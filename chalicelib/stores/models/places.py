"""Places in the queue of trainings, at a price that does not grow with the queue.

Near the front trainings are counted. Behind that, whoever sweeps has counted all of them a moment
ago, and has written down when every so many-th was accepted: between two such moments there are few
to count. Where nobody has, a count goes through the index, which answers with a number alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from pynamodb.expressions.condition import Condition

from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.models.model import QUEUED, Model
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.tables import CounterRow, ModelRow
from chalicelib.stores.models.models import open_key

# Places that are always those of the very moment.
EXACT_PLACES = 100
# How old a place behind them may be.
COUNTED_MILLISECONDS = 5_000
# Trainings that certainly do not all begin within that time.
_FAR = 1_000
# Trainings between two moments that are written down, unless there would be too many.
_SPACING = 50
# All marks lie in one row, which is read for each answer that shows a place.
_MOST_MARKS = 1_000
_ROW = "waiting#trainings"


@dataclass(frozen=True)
class _Lane:
    """What was counted in a long lane."""

    total: int
    marks: Sequence[int]
    """When some trainings were accepted, in order, from the first on."""
    ranks: Sequence[int]
    """How many were accepted before each of these moments."""

    @classmethod
    def of(cls, moments: Sequence[int]) -> _Lane:
        """Take down a lane.

        Args:
            moments: when its trainings were accepted, in order.
        """
        spacing = max(_SPACING, -(-len(moments) // _MOST_MARKS))
        marks = sorted(set(moments[::spacing]))
        return cls(len(moments), marks, [bisect_left(moments, mark) for mark in marks])

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> _Lane:
        """Read what `dump` wrote."""
        marks, ranks = (list(accumulate(saved[name])) for name in ("marks", "ranks"))
        return cls(saved["total"], marks, ranks)

    def dump(self) -> dict[str, object]:
        """Write it down in few bytes: of all numbers but the first only the steps."""
        return {"total": self.total, "marks": _steps(self.marks), "ranks": _steps(self.ranks)}

    def nearest(self, until: int) -> tuple[int, int]:
        """Return the last mark before a moment, or 0, and how many were before that."""
        place = bisect_left(self.marks, until) - 1
        return (self.marks[place], self.ranks[place]) if place >= 0 else (0, 0)


@translate_errors
class QueuePlaces:
    """Counts trainings that wait."""

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def before(self, model: Model) -> int:
        """Count the trainings of all accounts that were accepted earlier and still wait.

        Exact up to `EXACT_PLACES`, beyond that at most `COUNTED_MILLISECONDS` old.
        """
        until = to_milliseconds(model.queued_at or model.created_at)
        lanes: list[tuple[str, int | None]] = [(open_key(QUEUED, model.is_paid), until)]
        if not model.is_paid:
            # Everyone who pays is served before: also those who come later.
            lanes.insert(0, (open_key(QUEUED, True), None))
        known = self._known()
        if sum(_at_least(known.get(key), moment) for key, moment in lanes) < _FAR:
            near = _count_up_to(lanes, EXACT_PLACES + 1)
            if near <= EXACT_PLACES:
                return near
        far = sum(_place(known.get(key), key, moment) for key, moment in lanes)
        return max(far, EXACT_PLACES + 1)

    def count(self) -> bool:
        """Count all that wait, for whoever asks next; tell whether so many do."""
        now = to_milliseconds(self._clock())
        lanes = {}
        for key in (open_key(QUEUED, True), open_key(QUEUED, False)):
            if _count(key, limit=EXACT_PLACES + 1) > EXACT_PLACES:
                rows = ModelRow.queued_index.query(key, attributes_to_get=["accepted_at"])
                lanes[key] = _Lane.of([int(row.accepted_at) for row in rows]).dump()
        if lanes:
            row = CounterRow(_ROW)
            row.update(actions=[CounterRow.value.set(now), CounterRow.places.set(lanes)])
        return bool(lanes)

    def _known(self) -> Mapping[str, _Lane]:
        """Read what was counted last; nothing when that is too long ago."""
        try:
            row = CounterRow.get(_ROW)
        except CounterRow.DoesNotExist:
            return {}
        age = to_milliseconds(self._clock()) - row.value
        is_old = not -COUNTED_MILLISECONDS <= age <= COUNTED_MILLISECONDS
        return {} if is_old else {k: _Lane.load(lane) for k, lane in (row.places or {}).items()}


def _steps(numbers: Sequence[int]) -> list[int]:
    return [later - earlier for earlier, later in pairwise([0, *numbers])]


def _at_least(lane: _Lane | None, until: int | None) -> int:
    """Return how many were before a moment when the lane was counted, or a few less."""
    if lane is None:
        return 0
    return lane.total if until is None else lane.nearest(until)[1]


def _place(lane: _Lane | None, key: str, until: int | None) -> int:
    """Count those before a moment, or all, from what is known of the lane."""
    if lane is None:
        return _count(key, ModelRow.accepted_at < until if until else None)
    if until is None:
        return lane.total
    mark, before = lane.nearest(until)
    # Both ends are included, and no moment is written with a part of a millisecond.
    return before + _count(key, ModelRow.accepted_at.between(mark, until - 1))


def _count_up_to(lanes: Sequence[tuple[str, int | None]], most: int) -> int:
    """Count those before a moment of each lane, and stop at so many."""
    count = 0
    for key, until in lanes:
        if count < most:
            earlier = ModelRow.accepted_at < until if until else None
            count += _count(key, earlier, most - count)
    return count


def _count(key: str, condition: Condition | None = None, limit: int | None = None) -> int:
    """Count rows of a lane; the answer holds none of them."""
    count, start = 0, None
    while True:
        response = ModelRow._get_connection().query(
            key,
            condition,
            index_name="queued",
            select="COUNT",
            limit=None if limit is None else limit - count,
            exclusive_start_key=start,
        )
        count += int(response["Count"])
        start = response.get("LastEvaluatedKey")
        if start is None or (limit is not None and count >= limit):
            return count
