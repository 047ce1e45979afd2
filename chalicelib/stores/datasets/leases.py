"""Leases under which the data of a dataset is changed, and the writes that commit a change.

A change is committed by one write of the dataset's row. Readers ignore chunks beyond the committed
counts. Each new lease has a higher fence token. So a writer cannot commit after another writer has
acquired the lease.
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
from chalicelib.stores.aws.rows import refresh
from chalicelib.stores.aws.tables import DatasetRow
from chalicelib.stores.datasets.datasets import dump_counts, label_block, load_dataset, row_of
from chalicelib.stores.datasets.labels import owner_key


@dataclass(frozen=True)
class OwnedDataset:
    """A dataset, and the lease that allows its holder to change the dataset."""

    dataset: Dataset
    """The dataset as it was when the lease was acquired."""
    lease: Lease
    """The lease: its fence token and number of attempts."""
    upload: Upload
    """The running upload; an empty value if the lease is for another change."""


@dataclass(frozen=True)
class Addition:
    """The totals of a dataset after a change."""

    counts: Sequence[LabelCounts]
    """Counts of all labels of the dataset."""
    duplicates: int
    """Number of duplicates that uploads left out."""
    words_upload: int
    """Number of words in all texts of source `upload`."""
    words_feedback: int
    """Number of words in all texts of source `feedback`."""
    bytes: int
    """Size of the stored texts or images in bytes."""


@translate_errors
class DatasetLeases:
    """Acquires, renews and ends leases of datasets, and commits changes.

    Methods that write under a lease raise LeaseLost if another worker owns the dataset or the
    dataset is being deleted.
    """

    def __init__(self, clients: Clients, clock: Clock, settings: Settings) -> None:
        clients.bind_tables()
        self._clock = clock
        self._milliseconds = round(settings.lease_seconds * 1000)
        self._longest = longest_lease(self._milliseconds)

    def acquire_upload(
        self, account_id: str, family: str, dataset_id: int, upload_id: str
    ) -> OwnedDataset | None:
        """Acquire the lease of an upload; None if the upload has ended or another worker has it."""
        running = (DatasetRow.status == UPLOADING) & (DatasetRow.upload_id == upload_id)
        row = DatasetRow(owner_key(account_id, family), dataset_id)
        return self._take(row, running, [DatasetRow.attempts.add(1)])

    def acquire_addition(self, dataset: Dataset) -> OwnedDataset | None:
        """Acquire the lease to change a dataset; None if the dataset is in use or not available."""
        available = DatasetRow.available == True  # noqa: E712 - a PynamoDB condition
        return self._take(row_of(dataset), available, [])

    def renew(self, dataset: Dataset, lease: Lease) -> None:
        """Extend the lease of an upload."""
        self._write(dataset, lease, [DatasetRow.lease_until.set(self._until())], UPLOADING)

    def keep(self, dataset: Dataset, lease: Lease) -> None:
        """Extend the lease under which an available dataset is changed."""
        self._write(dataset, lease, [DatasetRow.lease_until.set(self._until())])

    def put_upload(self, dataset: Dataset, lease: Lease, upload: Upload) -> None:
        """Store the state of an upload, such as its reserved ids, for later attempts."""
        actions: list[Action] = [
            DatasetRow.upload.set(upload.to_json()),
            DatasetRow.reserved_bytes.set(upload.size_bytes),
        ]
        if upload.labels:
            # Before the labels' rows exist, so that a deletion finds rows that no count names.
            actions.append(_noted(upload.first_label, upload.labels))
        self._write(dataset, lease, actions, UPLOADING)

    def note_labels(self, dataset: Dataset, lease: Lease, first: int, count: int = 1) -> None:
        """Store a range of label ids, so that a deletion of the dataset finds their rows."""
        self._write(dataset, lease, [_noted(first, count)])

    def commit_upload(self, dataset: Dataset, lease: Lease, addition: Addition) -> None:
        """End an upload as SUCCEEDED, and commit the new totals."""
        actions = [
            DatasetRow.status.set(SUCCEEDED),
            DatasetRow.available.set(True),
            DatasetRow.message.remove(),
            *self._totals(addition),
            *self._ended(),
        ]
        self._write(dataset, lease, actions, UPLOADING, SUCCEEDED)

    def commit_addition(self, dataset: Dataset, lease: Lease, addition: Addition) -> None:
        """Commit the totals after a single addition, and end the lease."""
        # One write, so that readers see all of the addition or nothing.
        actions = [*self._totals(addition), DatasetRow.lease_until.set(0)]
        self._write(dataset, lease, actions)

    def commit_correction(
        self, dataset: Dataset, lease: Lease, addition: Addition, removed_label_id: int = 0
    ) -> None:
        """Commit a correction with its new totals and layouts, and end the lease.

        Args:
            dataset: the corrected dataset.
            lease: the lease of the correction.
            addition: the new totals. A changed layout is identified by the fence token of the
                lease.
            removed_label_id: id of the removed label; 0 for none. The id is stored, so that a
                deletion of the dataset finds the label's row.
        """
        actions = [
            *self._totals(addition),
            DatasetRow.last_correction.set(lease.fence),
            DatasetRow.lease_until.set(0),
        ]
        if removed_label_id:
            actions.append(_noted(removed_label_id, 1))
        self._write(dataset, lease, actions)

    def commit_bytes(self, dataset: Dataset, lease: Lease, size_bytes: int) -> None:
        """Store the dataset's size in bytes after images were removed, and end the lease."""
        actions: list[Action] = [
            DatasetRow.size_bytes.set(size_bytes),
            DatasetRow.lease_until.set(0),
        ]
        self._write(dataset, lease, actions)

    def commit_names(self, dataset: Dataset, lease: Lease, counts: Sequence[LabelCounts]) -> None:
        """Make renamed labels visible by storing the fence tokens of their names; end the lease."""
        actions: list[Action] = [
            DatasetRow.counts.set(dump_counts(counts)),
            DatasetRow.updated_at.set(to_milliseconds(self._clock())),
            DatasetRow.lease_until.set(0),
        ]
        self._write(dataset, lease, actions)

    def fail_upload(self, owned: OwnedDataset, message: str) -> None:
        """End an upload as FAILED. Data of earlier uploads stays available."""
        actions = [
            DatasetRow.status.set(FAILED),
            DatasetRow.message.set(message),
            # A failed first upload leaves no data to train on.
            DatasetRow.available.set(owned.upload.adds),
            DatasetRow.updated_at.set(to_milliseconds(self._clock())),
            *self._ended(),
        ]
        self._write(owned.dataset, owned.lease, actions, UPLOADING, FAILED)

    def release(self, dataset: Dataset, lease: Lease) -> None:
        """End the lease after a change that was not committed."""
        row = row_of(dataset)
        # A refusal means that another owner has the row, so the lease has ended, too.
        try_update(row, [DatasetRow.lease_until.set(0)], DatasetRow.fence == lease.fence)

    def fail_attempt(self, owned: OwnedDataset, error: str) -> None:
        """Store the error of a failed attempt. The next attempt starts when the lease has ended."""
        # The lease stays, so that a short outage of the storage does not use up all attempts.
        actions: list[Action] = [DatasetRow.last_error.set(error[:500])]
        try_update(row_of(owned.dataset), actions, DatasetRow.fence == owned.lease.fence)

    def return_to_queue(self, owned: OwnedDataset) -> None:
        """End the lease, so that another worker resumes the upload; do not count the attempt."""
        actions: list[Action] = [
            DatasetRow.lease_until.set(0),
            DatasetRow.attempts.set(max(0, owned.lease.attempts - 1)),
            DatasetRow.nudged_at.set(to_milliseconds(self._clock())),
        ]
        try_update(row_of(owned.dataset), actions, DatasetRow.fence == owned.lease.fence)

    def uncount_attempt(self, owned: OwnedDataset) -> None:
        """Stop counting the current attempt, because its worker lost the lease and did not fail."""
        same = (DatasetRow.status == UPLOADING) & (DatasetRow.upload_id == owned.dataset.upload_id)
        # The current owner has counted itself, so at least that attempt stays.
        counted = same & (DatasetRow.fence > owned.lease.fence) & (DatasetRow.attempts > 1)
        try_update(row_of(owned.dataset), [DatasetRow.attempts.add(-1)], counted)

    def _take(self, row: DatasetRow, condition: Any, more: list[Action]) -> OwnedDataset | None:
        """Acquire the lease of a row; None if the lease is not free or `condition` is not met.

        If a write is retried after it succeeded, the retry is refused. The row then names this
        owner, so the lease counts as acquired.
        """
        owner = secrets.token_hex(8)
        # One write changes lease and fence, so no two owners ever have the same fence.
        now = to_milliseconds(self._clock())
        free = lease_is_over(DatasetRow.lease_until, now, self._longest)
        actions: list[Action] = [
            DatasetRow.lease_until.set(self._until()),
            DatasetRow.lease_owner.set(owner),
            DatasetRow.fence.add(1),
            *more,
        ]
        is_taken = try_update(row, actions, condition & free)
        # A retry must not count another attempt: it is refused, and then checks the owner.
        if not is_taken and (not refresh(row) or row.lease_owner != owner):
            return None
        lease = Lease(int(row.fence), int(row.attempts), row.last_error or "")
        return OwnedDataset(load_dataset(row), lease, Upload(**(row.upload or {})))

    def _write(self, dataset: Dataset, lease: Lease, actions: list[Action], *statuses: str) -> None:
        """Change the row of a leased dataset. Raise LeaseLost if another worker has the lease.

        `statuses` are the statuses that the row may have; without `statuses`, it may have any
        status. A row with another status also raises LeaseLost.
        """
        # A call that ends an upload also accepts its own final status. So a retry succeeds, and a
        # final status whose response was lost is not replaced by another one.
        row = row_of(dataset)
        condition: Condition = DatasetRow.fence == lease.fence
        if statuses:
            condition = condition & DatasetRow.status.is_in(*statuses)
        if not try_update(row, actions, condition):
            raise LeaseLost

    def _totals(self, addition: Addition) -> list[Action]:
        return [
            DatasetRow.counts.set(dump_counts(addition.counts)),
            DatasetRow.duplicates.set(addition.duplicates),
            DatasetRow.words_upload.set(addition.words_upload),
            DatasetRow.words_feedback.set(addition.words_feedback),
            DatasetRow.size_bytes.set(addition.bytes),
            DatasetRow.updated_at.set(to_milliseconds(self._clock())),
        ]

    def _ended(self) -> list[Action]:
        # `upload` stays in the row, because the deletion needs it.
        return [
            DatasetRow.lease_until.set(0),
            DatasetRow.reserved_bytes.set(0),
            DatasetRow.last_error.remove(),
            DatasetRow.open.remove(),
            DatasetRow.lane.remove(),
            DatasetRow.turn.remove(),
        ]

    def _until(self) -> int:
        return to_milliseconds(self._clock()) + self._milliseconds


def _noted(first: int, count: int) -> Action:
    # A set, so that a retried write adds nothing twice.
    action: Action = DatasetRow.label_blocks.add({label_block(first, count)})
    return action
