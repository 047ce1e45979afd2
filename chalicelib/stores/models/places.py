"""Finds positions in the queue of trainings, at a cost that does not grow with the queue.

Positions near the front are counted. For other positions, SweepService counts the whole queue every
few seconds. It stores acceptance time and position of every n-th training, which are called marks.
Then only the trainings after the nearest earlier mark have to be counted. Without recent marks, all
trainings are counted.
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

# Positions up to this one are always exact.
EXACT_PLACES = 100
# Maximum age of the count behind a position above EXACT_PLACES, in milliseconds.
COUNTED_MILLISECONDS = 5_000
# If the last count gave at least this position, the present one is above EXACT_PLACES, too: the
# difference is more trainings than can start within COUNTED_MILLISECONDS.
_FAR = 1_000
# Trainings between two marks, unless there would be too many marks.
_SPACING = 50
# All marks are in one row, which is read for each response with a position.
_MOST_MARKS = 1_000
_ROW = "waiting#trainings"


@dataclass(frozen=True)
class _Lane:
    """The marks (acceptance times of some trainings) of one queue, paid or free."""

    total: int
    marks: Sequence[int]
    """Acceptance times of the first and of every n-th training, ascending."""
    ranks: Sequence[int]
    """For each mark, the number of trainings that were accepted before it."""

    @classmethod
    def of(cls, moments: Sequence[int]) -> _Lane:
        """Choose the marks of a queue from `moments`, the acceptance times of its trainings."""
        spacing = max(_SPACING, -(-len(moments) // _MOST_MARKS))
        marks = sorted(set(moments[::spacing]))
        return cls(len(moments), marks, [bisect_left(moments, mark) for mark in marks])

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> _Lane:
        marks, ranks = (list(accumulate(saved[name])) for name in ("marks", "ranks"))
        return cls(saved["total"], marks, ranks)

    def dump(self) -> dict[str, object]:
        # Differences instead of absolute numbers, so that the row is small.
        return {"total": self.total, "marks": _steps(self.marks), "ranks": _steps(self.ranks)}

    def nearest(self, until: int) -> tuple[int, int]:
        """Return the last mark before `until`, and the number of trainings before this mark.

        Both are 0 if there is no earlier mark.
        """
        place = bisect_left(self.marks, until) - 1
        return (self.marks[place], self.ranks[place]) if place >= 0 else (0, 0)


@translate_errors
class QueuePlaces:
    """Counts how many trainings come before a training in the queue."""

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def before(self, model: Model) -> int:
        """Return how many waiting trainings, of all accounts, will run before a model's training.

        The number is exact up to `EXACT_PLACES`. A larger number was counted at most
        COUNTED_MILLISECONDS ago.
        """
        until = to_milliseconds(model.queued_at or model.created_at)
        lanes: list[tuple[str, int | None]] = [(open_key(QUEUED, model.is_paid), until)]
        if not model.is_paid:
            # Paying accounts go first, even with trainings that were accepted later.
            lanes.insert(0, (open_key(QUEUED, True), None))
        known = self._known()
        if sum(_at_least(known.get(key), moment) for key, moment in lanes) < _FAR:
            near = _count_up_to(lanes, EXACT_PLACES + 1)
            if near <= EXACT_PLACES:
                return near
        far = sum(_place(known.get(key), key, moment) for key, moment in lanes)
        return max(far, EXACT_PLACES + 1)

    def count(self) -> bool:
        """Store the marks of each queue with more than EXACT_PLACES trainings.

        A mark is the acceptance time of a training and its position in the queue. There are two
        queues, one of paid plans and one of free plans.

        Returns:
            Whether a queue has more than EXACT_PLACES trainings.
        """
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
        """Return the stored acceptance times by queue; an empty mapping if they are too old."""
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
    """Return a lower bound of the result of `_place`, without reading the queue."""
    if lane is None:
        return 0
    return lane.total if until is None else lane.nearest(until)[1]


def _place(lane: _Lane | None, key: str, until: int | None) -> int:
    """Count a queue's trainings that were accepted before `until` (ms); None counts all.

    `lane` has the marks of the queue; it is None if no marks are stored. `key` is the queue's
    partition in the index.
    """
    if lane is None:
        return _count(key, ModelRow.accepted_at < until if until else None)
    if until is None:
        return lane.total
    mark, before = lane.nearest(until)
    # `between` includes both ends, and times are whole milliseconds.
    return before + _count(key, ModelRow.accepted_at.between(mark, until - 1))


def _count_up_to(lanes: Sequence[tuple[str, int | None]], maximum: int) -> int:
    """Count the trainings in several queues, up to `maximum`.

    An item of `lanes` is a queue's partition in the index, and a time. Only trainings accepted
    before this time are counted; None counts all trainings.
    """
    count = 0
    for key, until in lanes:
        if count < maximum:
            earlier = ModelRow.accepted_at < until if until else None
            count += _count(key, earlier, maximum - count)
    return count


def _count(key: str, condition: Condition | None = None, limit: int | None = None) -> int:
    """Return the number of rows in an index partition, without reading their attributes."""
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
