"""Reads the rows of datasets, and writes the changes of state that requests cause."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.common.paging import ListFilter
from chalicelib.domain.datasets.dataset import (
    DELETION_PENDING,
    FAMILY_TYPES,
    UPLOADING,
    Dataset,
    LabelCounts,
)
from chalicelib.domain.datasets.upload import QueuedUpload, Upload
from chalicelib.domain.jobs.turns import Turn
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update, try_write
from chalicelib.stores.aws.moments import is_announced_before, lease_is_over
from chalicelib.stores.aws.rows import find_row, load, refresh
from chalicelib.stores.aws.tables import DatasetRow
from chalicelib.stores.datasets.labels import owner_key
from chalicelib.stores.datasets.pages import clear_places, delete_places, read_page

# Number of uploads at the front of a queue that a worker reads to find the next one.
FRONT = 100
# Maximum number of waiting uploads per queue for which one sweep sends messages again.
ANNOUNCED_AT_ONCE = 500
# Marks a new dataset whose call has not finished, so that the sweep deletes it if the call died.
_UNFINISHED = (DatasetRow.open == DELETION_PENDING) & (DatasetRow.status == UPLOADING)
# The sweep increases the fence when it starts to delete such a dataset.
_UNCLAIMED = _UNFINISHED & (DatasetRow.fence == 0)


@translate_errors
class DatasetStore:
    """Reads datasets, and changes their state by single conditional writes.

    Times of arguments are in milliseconds since 1970.
    """

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def reserve(self, dataset: Dataset) -> None:
        """Store the row of a new dataset, before its labels and its file are stored.

        No call finds the dataset before `finish`. If the request ends before `finish`, SweepService
        deletes the dataset with everything that was stored for it.
        """
        row = new_row(replace(dataset, status=UPLOADING, available=False, counts=()))
        # The time of this attempt: the creation time is that of the first attempt, up to a day ago.
        now = to_milliseconds(self._clock())
        row.open, row.nudged_at = DELETION_PENDING, now
        ids = [counts.label_id for counts in dataset.counts]
        row.label_blocks = blocks = {label_block(ids[0], len(ids))} if ids else None
        is_new = try_write(lambda: row.save(condition=DatasetRow.dataset_id.does_not_exist()))
        if is_new:
            return
        # Another attempt at the call has reserved the row, with other label ids.
        try_update(row_of(dataset), [DatasetRow.nudged_at.set(now)], _UNCLAIMED)
        if blocks:
            there = DatasetRow.dataset_id.exists()
            try_update(row_of(dataset), [DatasetRow.label_blocks.add(blocks)], there)

    def finish(
        self, dataset: Dataset, upload: Upload | None = None, turn: Turn | None = None
    ) -> Dataset:
        """Complete the row of a reserved dataset. An upload then waits for its turn in the queue.

        Returns:
            The stored dataset. If another attempt at the call has completed the row, this dataset
            has the label ids that the other attempt reserved.

        Raises:
            StorageUnavailable: the dataset is being deleted.
        """
        now = to_milliseconds(self._clock())
        actions: list[Action] = [
            DatasetRow.status.set(dataset.status),
            DatasetRow.available.set(dataset.available),
            DatasetRow.counts.set(dump_counts(dataset.counts)),
            DatasetRow.nudged_at.set(now),
            DatasetRow.open.remove() if upload is None else DatasetRow.open.set(UPLOADING),
        ]
        if upload is not None:
            actions.append(DatasetRow.upload.set(upload.to_json()))
        if turn is not None:
            actions += [DatasetRow.lane.set(turn.lane), DatasetRow.turn.set(turn.number)]
        row = row_of(dataset)
        if try_update(row, actions, _UNCLAIMED):
            return load_dataset(row)
        # The write was refused: an earlier try of it succeeded, or another attempt has finished.
        is_there = refresh(row)
        if not is_there:
            # The sweep has deleted the row. Reserve it again, so that a later sweep deletes what
            # this slow call stored.
            self.reserve(dataset)
        if not is_there or row.open == DELETION_PENDING:
            raise StorageUnavailable
        return load_dataset(row)

    def find(self, account_id: str, family: str, dataset_id: int) -> Dataset | None:
        """Return a dataset of an account, or None."""
        row = find_row(DatasetRow, owner_key(account_id, family), dataset_id)
        return load_dataset(row) if row and not _is_unfinished(row) else None

    def find_deleted(self, account_id: str, family: str, dataset_id: int) -> Dataset | None:
        """Return a dataset that is being deleted, or None."""
        row = find_row(DatasetRow, owner_key(account_id, family), dataset_id)
        # A row that was restored from a backup has only the status.
        is_deleted = row is not None and DELETION_PENDING in (row.open, row.status)
        return load_dataset(row) if row and is_deleted else None

    def of_account(self, account_id: str, family: str, limit: int | None = None) -> list[Dataset]:
        """Return the datasets of an account and family in order of id, up to `limit`."""
        rows = DatasetRow.query(owner_key(account_id, family), consistent_read=True, limit=limit)
        return [load_dataset(row) for row in rows]

    def ids(self, account_id: str, family: str, query: ListFilter) -> list[int]:
        """Return the ids of the datasets that `query` matches, ascending."""
        members = ["dataset_id", "name", "status", "open"]
        rows = DatasetRow.query(
            owner_key(account_id, family), consistent_read=True, attributes_to_get=members
        )
        wanted_rows = (row for row in rows if query.keeps(row.name, row.status))
        return [int(row.dataset_id) for row in wanted_rows if not _is_unfinished(row)]

    def find_many(self, account_id: str, family: str, ids: Sequence[int]) -> list[Dataset]:
        """Return the datasets with these ids, ascending. Missing datasets are left out."""
        owner = owner_key(account_id, family)
        rows = DatasetRow.batch_get([(owner, number) for number in ids], consistent_read=True)
        return sorted((load_dataset(row) for row in rows), key=lambda found: found.dataset_id)

    def page(self, account_id: str, family: str, offset: int, count: int) -> list[Dataset]:
        """Return `count` datasets from position `offset` of an account's list, sorted by id.

        The list includes datasets whose creating call is not finished.
        """
        now = to_milliseconds(self._clock())
        return [
            load_dataset(row)
            for row in read_page(owner_key(account_id, family), offset, count, now)
        ]

    def start_upload(
        self, dataset: Dataset, upload_id: str, upload: Upload, turn: Turn
    ) -> Dataset | None:
        """Start an upload to an available dataset; return None if the dataset is not available."""
        now = to_milliseconds(self._clock())
        free = DatasetRow.available == True  # noqa: E712 - a PynamoDB condition
        actions: list[Action] = [
            DatasetRow.status.set(UPLOADING),
            DatasetRow.available.set(False),
            DatasetRow.upload_id.set(upload_id),
            DatasetRow.upload.set(upload.to_json()),
            DatasetRow.reserved_bytes.set(upload.size_bytes),
            DatasetRow.attempts.set(0),
            DatasetRow.last_error.remove(),
            DatasetRow.lease_until.set(0),
            DatasetRow.nudged_at.set(now),
            DatasetRow.updated_at.set(now),
            DatasetRow.open.set(UPLOADING),
            DatasetRow.lane.set(turn.lane),
            DatasetRow.turn.set(turn.number),
            DatasetRow.fence.add(1),
        ]
        row = row_of(dataset)
        if not try_update(row, actions, free):
            current = self.find(dataset.account_id, dataset.family, dataset.dataset_id)
            # If an earlier try of this write succeeded, the row has this upload id.
            return current if current and current.upload_id == upload_id else None
        return load_dataset(row)

    def add_training(self, dataset: Dataset, entry: str) -> bool:
        """Add the guard entry of a training, which protects an available dataset from deletion.

        Returns:
            False if the dataset is not available.
        """
        row = row_of(dataset)
        free = DatasetRow.available == True  # noqa: E712 - a PynamoDB condition
        return try_update(row, [DatasetRow.training.add({entry})], free)

    def remove_training(self, dataset: Dataset, entries: Iterable[str]) -> None:
        """Remove guard entries from a dataset. Missing entries are ignored."""
        row = row_of(dataset)
        there = DatasetRow.dataset_id.exists()
        gone = set(entries)
        if gone:
            try_update(row, [DatasetRow.training.delete(gone)], there)

    def rename(self, dataset: Dataset, name: str) -> bool:
        """Rename a dataset; return False if the dataset is being deleted."""
        actions: list[Action] = [
            DatasetRow.name.set(name),
            DatasetRow.updated_at.set(to_milliseconds(self._clock())),
        ]
        kept = DatasetRow.dataset_id.exists() & (DatasetRow.status != DELETION_PENDING)
        return try_update(row_of(dataset), actions, kept)

    def start_deletion(self, dataset: Dataset) -> bool:
        """Set a dataset DELETION_PENDING; return False if an unfinished training needs it."""
        actions: list[Action] = [
            DatasetRow.status.set(DELETION_PENDING),
            DatasetRow.available.set(False),
            DatasetRow.updated_at.set(to_milliseconds(self._clock())),
            DatasetRow.nudged_at.set(to_milliseconds(self._clock())),
            DatasetRow.open.set(DELETION_PENDING),
            DatasetRow.lane.remove(),
            DatasetRow.turn.remove(),
            DatasetRow.fence.add(1),
        ]
        # One write checks and marks, so a training that starts meanwhile finds it unavailable.
        unguarded = DatasetRow.training.does_not_exist() & DatasetRow.dataset_id.exists()
        row = row_of(dataset)
        if try_update(row, actions, unguarded):
            return True
        current = self.find(dataset.account_id, dataset.family, dataset.dataset_id)
        return current is None or current.status == DELETION_PENDING

    def note_urls(self, dataset: Dataset, until: int) -> bool:
        """Store when presigned URLs of a dataset's images expire.

        `until` is the time when the URLs expire. A later stored time is not replaced.

        Returns:
            False if the dataset is being deleted.
        """
        row = row_of(dataset)
        kept = DatasetRow.dataset_id.exists() & (DatasetRow.status != DELETION_PENDING)
        # Two simultaneous lists: the earlier expiry must not replace the later one.
        later = DatasetRow.urls_until.does_not_exist() | (DatasetRow.urls_until <= until)
        actions: list[Action] = [DatasetRow.urls_until.set(until)]
        if try_update(row, actions, kept & later):
            return True
        current = self.find(dataset.account_id, dataset.family, dataset.dataset_id)
        return current is not None and current.status != DELETION_PENDING

    def urls_until(self, dataset: Dataset) -> int:
        """Return when the last presigned URL expires, in ms since 1970; 0 if no URL was issued."""
        row = row_of(dataset)
        row.refresh(consistent_read=True)
        return int(row.urls_until or 0)

    def delete(self, dataset: Dataset) -> bool:
        """Delete the row of a dataset; return False if it did not exist."""
        row = row_of(dataset)
        is_deleted = try_write(lambda: row.delete(condition=DatasetRow.dataset_id.exists()))
        # Also if the row did not exist: the process that deleted it may have died before this step.
        clear_places(str(row.owner))
        return is_deleted

    def delete_places(self, account_id: str) -> None:
        """Delete the page positions stored for the dataset lists of a deleted account."""
        for family in FAMILY_TYPES:
            delete_places(owner_key(account_id, family))

    def lease_until(self, dataset: Dataset) -> int:
        """Return when the latest lease of a dataset ends, in milliseconds since 1970."""
        row = row_of(dataset)
        row.refresh(consistent_read=True)
        return int(row.lease_until)

    def queued_uploads(self, lane: str) -> list[QueuedUpload]:
        """Return the first waiting and running uploads of a queue, in the order of the queue."""
        rows = DatasetRow.turn_index.query(lane, limit=FRONT)
        return [_load_queued(row) for row in rows]

    def find_queued(
        self, account_id: str, family: str, dataset_id: int, upload_id: str
    ) -> QueuedUpload | None:
        """Return an accepted upload with its number in the queue; None if the upload has ended.

        The number (`turn`) is 0 if none was stored.
        """
        row = find_row(DatasetRow, owner_key(account_id, family), dataset_id)
        if row is None or row.status != UPLOADING or row.upload_id != upload_id:
            return None
        if _is_unfinished(row):
            return None
        return _load_queued(row)

    def claim_lost(
        self, lanes: Iterable[str], dead_before: int, announced_before: int
    ) -> list[Dataset]:
        """Return uploads whose message seems to be lost, so that the caller sends a new message.

        The current time is stored in the row of each returned upload, so that a simultaneous sweep
        does not return the same upload.

        Args:
            lanes: names of the queues to search.
            dead_before: time in milliseconds since 1970. An upload whose worker died is returned if
                its last message was sent before this time.
            announced_before: the corresponding time for an upload that no worker has started. A
                message that was sent later may still be in the queue.
        """
        now = to_milliseconds(self._clock())
        nudged = DatasetRow.nudged_at
        died = (DatasetRow.lease_until > 0) & lease_is_over(DatasetRow.lease_until, now)
        waits = DatasetRow.lease_until == 0
        lost = died & is_announced_before(nudged, dead_before, now)
        lost |= waits & is_announced_before(nudged, announced_before, now)
        claimed: list[Dataset] = []
        for lane in lanes:
            rows = DatasetRow.turn_index.query(lane, filter_condition=lost)
            front = [row for row, _ in zip(rows, range(ANNOUNCED_AT_ONCE), strict=False)]
            claimed += self._claim(front, lost & (DatasetRow.status == UPLOADING))
        return claimed

    def claim_deleted(self, older_than: int) -> list[Dataset]:
        """Return datasets whose deletion makes no progress, so that the caller resends the jobs.

        Only datasets whose last message was sent before `older_than` are returned. They include
        datasets whose creating call died before `finish`. The current time is stored in the row of
        each returned dataset, so that a simultaneous sweep does not return it again.
        """
        now = to_milliseconds(self._clock())
        stale = is_announced_before(DatasetRow.nudged_at, older_than, now)
        stale &= lease_is_over(DatasetRow.lease_until, now)
        rows = DatasetRow.open_index.query(DELETION_PENDING, filter_condition=stale)
        # The index is eventually consistent, so the condition on the row repeats the filter.
        is_deleted = stale & (DatasetRow.open == DELETION_PENDING)
        return self._claim(rows, is_deleted, DatasetRow.fence.add(1))

    def _claim(
        self, rows: Iterable[DatasetRow], condition: Condition, *more: Action
    ) -> list[Dataset]:
        """Store the current time in each row that meets a condition; return the rows' datasets."""
        actions: list[Action] = [DatasetRow.nudged_at.set(to_milliseconds(self._clock())), *more]
        # Read completely first, because changed rows would move within the index.
        return [load_dataset(row) for row in list(rows) if try_update(row, actions, condition)]

    def label_ids(self, dataset: Dataset) -> set[int]:
        """Return the ids of all labels that may have rows, including uncommitted labels."""
        row = row_of(dataset)
        row.refresh(consistent_read=True)
        committed = {c.label_id for c in load_dataset(row).counts}
        return committed | label_ids(row.label_blocks or ())


def dump_counts(counts: Sequence[LabelCounts]) -> bytes:
    """Pack the counts of labels for a row."""
    # Compressed, so that 1,000 labels fit into a few kilobytes of the row.
    members = [c.packed for c in counts]
    return zlib.compress(json.dumps(members, separators=(",", ":")).encode())


def load_counts(packed: bytes | None) -> tuple[LabelCounts, ...]:
    """Unpack counts of labels; () for None."""
    if packed is None:
        return ()
    return tuple(LabelCounts(*members) for members in json.loads(zlib.decompress(packed)))


def row_of(dataset: Dataset) -> DatasetRow:
    """Return a row that has only the dataset's key."""
    return DatasetRow(owner_key(dataset.account_id, dataset.family), dataset.dataset_id)


def new_row(dataset: Dataset) -> DatasetRow:
    """Return the row of a new dataset."""
    return DatasetRow(
        owner_key(dataset.account_id, dataset.family),
        dataset.dataset_id,
        name=dataset.name,
        type=dataset.type,
        language=dataset.language,
        status=dataset.status,
        available=dataset.available,
        created_at=to_milliseconds(dataset.created_at),
        updated_at=to_milliseconds(dataset.updated_at),
        counts=dump_counts(dataset.counts),
        is_uploaded=dataset.is_uploaded,
        upload_id=dataset.upload_id or None,
        reserved_bytes=dataset.reserved_bytes,
        is_placed=dataset.is_placed,
    )


def label_block(first: int, count: int) -> str:
    """Return a range of label ids in the form that a dataset's row stores, such as `10+5`."""
    return f"{first}+{count}"


def label_ids(blocks: Iterable[str]) -> set[int]:
    """Return all label ids in the ranges that a dataset's row stores."""
    pairs = (block.split("+") for block in blocks)
    return {int(first) + number for first, count in pairs for number in range(int(count))}


def _is_unfinished(row: DatasetRow) -> bool:
    return bool(row.open == DELETION_PENDING and row.status == UPLOADING)


def _load_queued(row: DatasetRow) -> QueuedUpload:
    account_id, _, family = str(row.owner).rpartition("#")
    owner = {"account_id": account_id, "family": family}
    return load(QueuedUpload, row, **owner, lane=row.lane or "", turn=int(row.turn or 0))


def load_dataset(row: DatasetRow) -> Dataset:
    """Return the dataset of a row."""
    account_id, _, family = str(row.owner).rpartition("#")
    return load(
        Dataset,
        row,
        account_id=account_id,
        family=family,
        counts=load_counts(row.counts),
        bytes=int(row.size_bytes),
        # Rows of older versions have no such attribute, and no index.
        is_placed=bool(row.is_placed),
        is_unfinished=_is_unfinished(row),
    )
