"""Ownership of a dataset while data is added, and the commits that its owner makes.

The dataset's row is the one commit point: chunks beyond the committed counts do not exist for
any reader, and a writer whose fence is no longer the row's cannot commit.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.datasets.dataset import FAILED, SUCCEEDED, UPLOADING, Dataset, LabelCounts
from chalicelib.domain.datasets.upload import Upload
from chalicelib.domain.jobs.lease import Lease, longest_lease
from chalicelib.errors import LeaseLost
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.moments import lease_is_over
from chalicelib.stores.aws.tables import DatasetRow
from chalicelib.stores.datasets.datasets import dump_counts, label_block, load_dataset, row_of
from chalicelib.stores.datasets.labels import owner_key


@dataclass(frozen=True)
class OwnedDataset:
    """A dataset together with the lease under which it may be written."""

    dataset: Dataset
    """The row as it was when the lease was taken."""
    lease: Lease
    """Fence and attempts."""
    upload: Upload
    """The upload that is going on; empty for a single addition."""


@dataclass(frozen=True)
class Addition:
    """New totals of a dataset after data was added."""

    counts: Sequence[LabelCounts]
    """Counts of all labels."""
    duplicates: int
    """Duplicates left out so far."""
    words_upload: int
    """Words of source upload."""
    words_feedback: int
    """Words of source feedback."""
    bytes: int
    """Bytes of the kept data."""


@translate_errors
class DatasetLeases:
    """Takes, renews and ends the ownership of a dataset's row."""

    def __init__(self, clients: Clients, clock: Clock, settings: Settings) -> None:
        clients.bind_tables()
        self._clock = clock
        self._milliseconds = round(settings.lease_seconds * 1000)
        self._longest = longest_lease(self._milliseconds)

    def acquire_upload(
        self, account_id: str, family: str, dataset_id: int, upload_id: str
    ) -> OwnedDataset | None:
        """Own the upload's job; None when it is done, ended, or owned by another worker."""
        running = (DatasetRow.status == UPLOADING) & (DatasetRow.upload_id == upload_id)
        row = DatasetRow(owner_key(account_id, family), dataset_id)
        return self._take(row, running, [DatasetRow.attempts.add(1)])

    def acquire_addition(self, dataset: Dataset) -> OwnedDataset | None:
        """Own an available dataset for one addition; None when it is busy or not available."""
        available = DatasetRow.available == True  # noqa: E712 - a PynamoDB condition
        return self._take(row_of(dataset), available, [])

    def renew(self, dataset: Dataset, lease: Lease) -> None:
        """Keep the ownership for another lease.

        Raises:
            LeaseLost: another worker owns it, or it is being deleted.
        """
        self._write(dataset, lease, [DatasetRow.lease_until.set(self._until())], UPLOADING)

    def keep(self, dataset: Dataset, lease: Lease) -> None:
        """Keep the ownership for another lease while an available dataset is changed.

        Raises:
            LeaseLost: another writer owns it, or it is being deleted.
        """
        self._write(dataset, lease, [DatasetRow.lease_until.set(self._until())])

    def put_upload(self, dataset: Dataset, lease: Lease, upload: Upload) -> None:
        """Remember what this upload has fetched and reserved, for a later attempt.

        Raises:
            LeaseLost: another worker owns it, or it is being deleted.
        """
        actions: list[Action] = [
            DatasetRow.upload.set(upload.to_json()),
            DatasetRow.reserved_bytes.set(upload.size_bytes),
        ]
        if upload.labels:
            # Before a label's row exists: a deletion finds it although no count names it.
            actions.append(_noted(upload.first_label, upload.labels))
        self._write(dataset, lease, actions, UPLOADING)

    def note_label(self, dataset: Dataset, lease: Lease, label_id: int) -> None:
        """Remember that a label's row may exist, for the deletion to find.

        Raises:
            LeaseLost: another writer owns it, or it is being deleted.
        """
        self._write(dataset, lease, [_noted(label_id, 1)])

    def commit_upload(self, dataset: Dataset, lease: Lease, addition: Addition) -> None:
        """End the upload with its new totals: SUCCEEDED and available.

        Raises:
            LeaseLost: another worker owns it, or it is being deleted.
        """
        actions = [
            DatasetRow.status.set(SUCCEEDED),
            DatasetRow.available.set(True),
            DatasetRow.message.remove(),
            *self._totals(addition),
            *self._ended(),
        ]
        self._write(dataset, lease, actions, UPLOADING, SUCCEEDED)

    def commit_addition(self, dataset: Dataset, lease: Lease, addition: Addition) -> None:
        """End a single addition with its new totals.

        Raises:
            LeaseLost: another writer owns it, or it is being deleted.
        """
        # The counts and the end of the lease in one write: readers see all of the addition or none.
        actions = [*self._totals(addition), DatasetRow.lease_until.set(0)]
        self._write(dataset, lease, actions)

    def commit_correction(
        self, dataset: Dataset, lease: Lease, addition: Addition, dropped: int = 0
    ) -> None:
        """Commit a correction with its new totals and layouts, and end the lease.

        Args:
            dataset: the corrected dataset.
            lease: of its owner.
            addition: totals with the fence of the lease in its layouts.
            dropped: id of a label that is not counted any more, for the deletion to find.

        Raises:
            LeaseLost: another writer owns it, or it is being deleted.
        """
        actions = [
            *self._totals(addition),
            DatasetRow.last_correction.set(lease.fence),
            DatasetRow.lease_until.set(0),
        ]
        if dropped:
            actions.append(_noted(dropped, 1))
        self._write(dataset, lease, actions)

    def commit_bytes(self, dataset: Dataset, lease: Lease, size_bytes: int) -> None:
        """End a removal of picture files with the bytes that are left.

        Raises:
            LeaseLost: another writer owns it, or it is being deleted.
        """
        actions: list[Action] = [
            DatasetRow.size_bytes.set(size_bytes),
            DatasetRow.lease_until.set(0),
        ]
        self._write(dataset, lease, actions)

    def commit_names(self, dataset: Dataset, lease: Lease, counts: Sequence[LabelCounts]) -> None:
        """End a change of label names with the counts that show them.

        Raises:
            LeaseLost: another writer owns it, or it is being deleted.
        """
        actions: list[Action] = [
            DatasetRow.counts.set(dump_counts(counts)),
            DatasetRow.updated_at.set(to_milliseconds(self._clock())),
            DatasetRow.lease_until.set(0),
        ]
        self._write(dataset, lease, actions)

    def fail_upload(self, owned: OwnedDataset, message: str) -> None:
        """End the upload as FAILED; data of before stays available.

        Raises:
            LeaseLost: another worker owns it, or it is being deleted.
        """
        actions = [
            DatasetRow.status.set(FAILED),
            DatasetRow.message.set(message),
            # The first upload of a dataset leaves nothing that could be trained on.
            DatasetRow.available.set(owned.upload.adds),
            DatasetRow.updated_at.set(to_milliseconds(self._clock())),
            *self._ended(),
        ]
        self._write(owned.dataset, owned.lease, actions, UPLOADING, FAILED)

    def release(self, dataset: Dataset, lease: Lease) -> None:
        """Give up the row after an addition that came to nothing."""
        row = row_of(dataset)
        # Refused where another owns the row by now, which is as good as released.
        try_update(row, [DatasetRow.lease_until.set(0)], DatasetRow.fence == lease.fence)

    def fail_attempt(self, owned: OwnedDataset, error: str) -> None:
        """Remember what broke this attempt; the next one begins when the lease has ended.

        So a storage that is out of reach for a moment does not use up the attempts at once.
        """
        actions: list[Action] = [DatasetRow.last_error.set(error[:500])]
        try_update(row_of(owned.dataset), actions, DatasetRow.fence == owned.lease.fence)

    def put_back(self, owned: OwnedDataset) -> None:
        """Give an upload back that ran out of the time it was given, which is no failed attempt."""
        actions: list[Action] = [
            DatasetRow.lease_until.set(0),
            DatasetRow.attempts.set(max(0, owned.lease.attempts - 1)),
            DatasetRow.nudged_at.set(to_milliseconds(self._clock())),
        ]
        try_update(row_of(owned.dataset), actions, DatasetRow.fence == owned.lease.fence)

    def discount(self, owned: OwnedDataset) -> None:
        """Take an attempt back that ended because its lease was lost: nothing had broken."""
        same = (DatasetRow.status == UPLOADING) & (DatasetRow.upload_id == owned.dataset.upload_id)
        # The owner of now has counted itself: at least that attempt stays.
        counted = same & (DatasetRow.fence > owned.lease.fence) & (DatasetRow.attempts > 1)
        try_update(row_of(owned.dataset), [DatasetRow.attempts.add(-1)], counted)

    def _take(self, row: DatasetRow, condition: Any, more: list[Action]) -> OwnedDataset | None:
        """Take the lease when it is free; a repeated call recognises its own first write."""
        owner = secrets.token_hex(8)
        # The fence grows with the lease in one write, so no two owners ever share a fence.
        now = to_milliseconds(self._clock())
        free = lease_is_over(DatasetRow.lease_until, now, self._longest)
        actions: list[Action] = [
            DatasetRow.lease_until.set(self._until()),
            DatasetRow.lease_owner.set(owner),
            DatasetRow.fence.add(1),
            *more,
        ]
        if not try_update(row, actions, condition & free):
            # Repeating must not count another attempt, so it is refused and looks who owns it.
            try:
                row.refresh(consistent_read=True)
            except DatasetRow.DoesNotExist:
                return None
            if row.lease_owner != owner:
                return None
        lease = Lease(int(row.fence), int(row.attempts), row.last_error or "")
        return OwnedDataset(load_dataset(row), lease, Upload(**(row.upload or {})))

    def _write(self, dataset: Dataset, lease: Lease, actions: list[Action], *statuses: str) -> None:
        """Write under the lease, in one of some statuses; to repeat the write is harmless.

        The end of an upload names its own status too, so that a repeated call meets its first
        write, and no owner turns an end whose reply was lost into another one.
        """
        row = row_of(dataset)
        condition: Condition = DatasetRow.fence == lease.fence
        if statuses:
            condition = condition & DatasetRow.status.is_in(*statuses)
        if not try_update(row, actions, condition):
            raise LeaseLost

    def _totals(self, addition: Addition) -> list[Action]:
        """List the changes of the totals."""
        return [
            DatasetRow.counts.set(dump_counts(addition.counts)),
            DatasetRow.duplicates.set(addition.duplicates),
            DatasetRow.words_upload.set(addition.words_upload),
            DatasetRow.words_feedback.set(addition.words_feedback),
            DatasetRow.size_bytes.set(addition.bytes),
            DatasetRow.updated_at.set(to_milliseconds(self._clock())),
        ]

    def _ended(self) -> list[Action]:
        """List the changes that end an upload; its record stays for the deletion to find."""
        return [
            DatasetRow.lease_until.set(0),
            DatasetRow.reserved_bytes.set(0),
            DatasetRow.last_error.remove(),
            DatasetRow.open.remove(),
            DatasetRow.lane.remove(),
            DatasetRow.turn.remove(),
        ]

    def _until(self) -> int:
        """Return when a lease that is taken now ends, in milliseconds since 1970."""
        return to_milliseconds(self._clock()) + self._milliseconds


def _noted(first: int, count: int) -> Action:
    # Into a set, so that a repeated write notes nothing twice.
    action: Action = DatasetRow.label_blocks.add({label_block(first, count)})
    return action
