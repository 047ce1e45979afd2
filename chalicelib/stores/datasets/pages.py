"""Reads pages of an account's datasets by position. Rows before a page are counted, not returned.

DynamoDB reads each row that it counts. So positions far from the beginning are stored with their
dataset ids in a counter row of the account. To find a page, counting starts at the nearest stored
position before the page. New datasets have the highest ids, so stored positions stay valid until a
dataset is deleted. Then all stored positions are cleared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pynamodb.exceptions import PynamoDBException

from chalicelib import log
from chalicelib.domain.common.head_calls import current_head_call
from chalicelib.stores.aws.errors import try_update
from chalicelib.stores.aws.rows import find_row
from chalicelib.stores.aws.tables import CounterRow, DatasetRow

# A page's start is stored if it is at least this many rows after the last stored position.
SPACING = 100
# All notes are in one row, which may have 400 kB.
_MOST_NOTES = 1_000
# The largest `Limit` that DynamoDB accepts.
_MOST_COUNTED = 2**31 - 1
# Longest run of a Lambda function: after it, a call that reserved an id has written its row or
# died.
_SETTLED_MILLISECONDS = 15 * 60 * 1000


@dataclass(frozen=True)
class _Places:
    """Stored positions in one owner's list of datasets."""

    owner: str
    version: int
    """Number of datasets that the owner has deleted. Stored positions are valid until it changes.
    """
    ids: Mapping[int, int]
    """Id of the dataset directly before each stored position, by position."""

    def nearest(self, offset: int) -> tuple[int, int]:
        """Return the last stored position up to `offset`, and the dataset id stored with it."""
        return max((place for place in self.ids.items() if place[0] <= offset), default=(0, 0))


def read_page(owner: str, offset: int, count: int, now: int) -> Sequence[DatasetRow]:
    """Return a page of an owner's datasets, sorted by id.

    `owner` is the partition key of the datasets. `offset` is the position of the first row, from 0.
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
    # While this row is young, a row with a lower id may still be written before it.
    is_settled = is_far and rows and rows[0].created_at < now - _SETTLED_MILLISECONDS
    if is_settled and not current_head_call():
        _note(places, offset, start)
    return rows


def clear_places(owner: str) -> None:
    """Delete the positions of pages in an account's lists, because a dataset was deleted."""
    actions = [CounterRow.value.add(1), CounterRow.places.remove()]
    CounterRow(f"places#{owner}").update(actions=actions)


def delete_places(owner: str) -> None:
    """Delete the row of stored positions, because the owner's account was deleted."""
    CounterRow(f"places#{owner}").delete()


def _skip(owner: str, before: int, count: int) -> int | None:
    """Return the dataset id `count` rows after the id `before`; None after the last dataset."""
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
    return {"owner": {"S": owner}, "dataset_id": {"N": str(dataset_id)}} if dataset_id else None


def _read_places(owner: str) -> _Places:
    row = find_row(CounterRow, f"places#{owner}")
    if row is None:
        return _Places(owner, 0, {})
    ids = {int(position): int(before) for position, before in (row.places or {}).items()}
    return _Places(owner, int(row.value), ids)


def _note(places: _Places, position: int, before: int) -> None:
    """Store a position, and the id `before` of the dataset directly before this position.

    Nothing is stored if a dataset was deleted after `places` was read.
    """
    ids = {str(place): known for place, known in sorted({**places.ids, position: before}.items())}
    unchanged = CounterRow.value == places.version
    if not places.version:
        unchanged |= CounterRow.value.does_not_exist()
    actions = [CounterRow.value.set(places.version), CounterRow.places.set(ids)]
    try:
        try_update(CounterRow(f"places#{places.owner}"), actions, unchanged)
    except PynamoDBException as error:
        # The page itself was read; without the note, the next page counts again.
        log.error("place_not_noted", error)
