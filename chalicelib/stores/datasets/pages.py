"""Pages of an account's datasets by position: what stands before a page is counted, not read.

A count leaves nothing but a number on the wire, yet the table reads the rows for it. So where far
pages begin is noted at the counter of their owner: the next page there reads its own rows, and at
most `SPACING` before them. Datasets are added behind all others, since ids grow; a deletion moves
what follows, and forgets the notes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pynamodb.exceptions import PynamoDBException

from chalicelib import log
from chalicelib.domain.common.head_calls import current_head_call
from chalicelib.stores.aws.errors import try_update
from chalicelib.stores.aws.tables import CounterRow, DatasetRow

# Rows that are counted again for each page before a note is worth its write.
SPACING = 100
_MOST_NOTES = 1_000  # All notes lie in one row, which may have 400 kB.
# The largest limit that the table takes.
_MOST_COUNTED = 2**31 - 1
# The longest that a function runs: whoever was given an id has written its row by then.
_SETTLED_MILLISECONDS = 15 * 60 * 1000


@dataclass(frozen=True)
class _Places:
    """Positions in the list of an owner."""

    owner: str
    version: int
    """How many deletions there were."""
    ids: Mapping[int, int]
    """Ids of the datasets before these positions."""

    def nearest(self, offset: int) -> tuple[int, int]:
        """Return the last place up to an offset: its position, and the id before it."""
        return max((place for place in self.ids.items() if place[0] <= offset), default=(0, 0))


def read_page(owner: str, offset: int, count: int, now: int) -> Sequence[DatasetRow]:
    """Read the rows at positions of a list.

    Args:
        owner: partition of the datasets.
        offset: position of the first row, from 0.
        count: rows to read.
        now: milliseconds since 1970.
    """
    places = _read_places(owner) if offset >= SPACING else _Places(owner, 0, {})
    position, before = places.nearest(offset)
    start = _skip(owner, before, offset - position)
    if start is None:
        return []
    rows = list(
        DatasetRow.query(
            owner, consistent_read=True, limit=count, last_evaluated_key=_key(owner, start)
        )
    )
    is_far = offset - position >= SPACING and len(places.ids) < _MOST_NOTES
    # A row with a lower id may still be on its way while this one is young.
    is_settled = is_far and rows and rows[0].created_at < now - _SETTLED_MILLISECONDS
    if is_settled and not current_head_call():
        _note(places, offset, start)
    return rows


def clear_places(owner: str) -> None:
    """Forget where pages begin, after a row was deleted; may be repeated."""
    actions = [CounterRow.value.add(1), CounterRow.places.remove()]
    CounterRow(f"places#{owner}").update(actions=actions)


def delete_places(owner: str) -> None:
    """Delete the places of an owner that is gone."""
    CounterRow(f"places#{owner}").delete()


def _skip(owner: str, before: int, count: int) -> int | None:
    """Count rows behind an id; return the id of the last one, or None when there are fewer."""
    while count:
        response = DatasetRow._get_connection().query(
            owner,
            consistent_read=True,
            select="COUNT",
            limit=min(count, _MOST_COUNTED),
            exclusive_start_key=_key(owner, before),
        )
        if "LastEvaluatedKey" not in response:
            return None
        before = int(response["LastEvaluatedKey"]["dataset_id"]["N"])
        count -= int(response["Count"])
    return before


def _key(owner: str, dataset_id: int) -> dict[str, Any] | None:
    """Make the key behind which a query begins; None for the beginning."""
    return {"owner": {"S": owner}, "dataset_id": {"N": str(dataset_id)}} if dataset_id else None


def _read_places(owner: str) -> _Places:
    try:
        row = CounterRow.get(f"places#{owner}", consistent_read=True)
    except CounterRow.DoesNotExist:
        return _Places(owner, 0, {})
    ids = {int(position): int(before) for position, before in (row.places or {}).items()}
    return _Places(owner, int(row.value), ids)


def _note(places: _Places, position: int, before: int) -> None:
    """Note one more place, unless a dataset was deleted since the others were read."""
    ids = {str(place): known for place, known in sorted({**places.ids, position: before}.items())}
    unchanged = CounterRow.value == places.version
    if not places.version:
        unchanged |= CounterRow.value.does_not_exist()
    actions = [CounterRow.value.set(places.version), CounterRow.places.set(ids)]
    try:
        try_update(CounterRow(f"places#{places.owner}"), actions, unchanged)
    except PynamoDBException as error:
        # The page is read; the next one counts again.
        log.error("place_not_noted", error)
