"""Limits the stored bytes, running uploads and unused presigned forms of each account.

The account's row has the sum of bytes, and one entry per running upload or unused form. All writes
of this row are conditional, so simultaneous calls cannot exceed a limit. The sum contains the bytes
of datasets, running uploads and model versions. A process that dies between two writes makes the
sum slightly wrong. So the bytes are recounted once a day, and before a call is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pynamodb.exceptions import PynamoDBException
from pynamodb.expressions.condition import Condition, size
from pynamodb.expressions.update import Action

from chalicelib import log
from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.datasets.dataset import FAMILY_TYPES, UPLOADING, Dataset
from chalicelib.domain.datasets.growth import check_capacity
from chalicelib.domain.datasets.upload import USED, OpenUpload
from chalicelib.domain.models.model_version import check_version_capacity
from chalicelib.errors import StorageUnavailable, TooManyOpen
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.rows import find_row
from chalicelib.stores.aws.tables import AccountRow, UploadFormRow
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.models.sizes import VersionSizes

# Maximum number of unused upload forms of an account.
MAX_FORMS = 20
# Attempts to change the row: each fails only because another change came first.
_TRIES = 20
# A sum that is only added to would keep every error for ever, so it is recounted daily.
_RECOUNT_MILLISECONDS = 24 * 3600 * 1000
# Milliseconds for which a reserved upload counts before its dataset's row exists.
_YOUNG_MILLISECONDS = 60_000


@translate_errors
class CapacityStore:
    """Reserves and releases the bytes, uploads and forms of accounts."""

    def __init__(
        self,
        clients: Clients,
        datasets: DatasetStore,
        versions: VersionSizes,
        clock: Clock,
        settings: Settings,
    ) -> None:
        clients.bind_tables()
        self._datasets = datasets
        self._versions = versions
        self._clock = clock
        self._max_open_uploads = settings.max_open_uploads
        self._max_stored_bytes = settings.max_stored_bytes

    def reserve_upload(self, dataset: Dataset, size_bytes: int) -> str:
        """Count an upload, and reserve its bytes, before the upload is accepted.

        Returns:
            The entry of the upload in the account's row, which `cancel_upload` needs.

        Raises:
            TooManyOpen: too many uploads are running, or the account stores too much.
        """
        account_id, ids = dataset.account_id, (dataset.family, dataset.dataset_id)
        entry = str(OpenUpload(*ids, dataset.receipt_id, self._now(), size_bytes))
        row, uploads = AccountRow(account_id), AccountRow.uploads
        count = size(uploads)
        has_place = uploads.does_not_exist() | (count < self._max_open_uploads)
        # If an earlier try of this write succeeded, the upload must not be counted twice.
        condition = self._has_capacity(size_bytes) & has_place & ~uploads.contains(entry)
        actions = [uploads.add({entry}), *_changed(size_bytes)]
        if try_update(row, actions, condition) or entry in self._recount(account_id):
            return entry
        if not try_update(row, actions, condition):
            self._refuse(account_id, size_bytes)
        return entry

    def resize_upload(self, dataset: Dataset, size_bytes: int) -> None:
        """Replace the reserved bytes of an upload by the size of the data that it stores.

        Raises:
            TooManyOpen: the account would store too much.
        """
        is_recounted = False
        for _ in range(_TRIES):
            row = find_row(AccountRow, dataset.account_id)
            entries = _find(row, dataset.receipt_id)
            if row is None or not entries:
                # An older version of the service accepted the upload and did not count it. The next
                # recount counts it.
                return
            before = sum(entry.size_bytes for entry in entries)
            more, stored = size_bytes - before, int(row.stored_bytes or 0)
            if more > 0 and stored + more > self._max_stored_bytes:
                if is_recounted:
                    check_capacity(stored - before, size_bytes, self._max_stored_bytes)
                self._recount(dataset.account_id)
                is_recounted = True
                continue
            after = row.uploads - set(map(str, entries))
            after |= {str(replace(entries[0], size_bytes=size_bytes))}
            actions = [AccountRow.uploads.set(after), *_changed(more)]
            if try_update(row, actions, AccountRow.room_version == row.room_version):
                return
        raise StorageUnavailable

    def end_upload(self, dataset: Dataset, *, has_data: bool) -> None:
        """Stop counting an ended upload as running.

        If the upload stored data (`has_data`), the upload's bytes stay counted. Otherwise they are
        subtracted.
        """
        try:
            entries = _find(find_row(AccountRow, dataset.account_id), dataset.receipt_id)
        except PynamoDBException as error:
            # The next recount removes the entry.
            log.error("capacity_not_released", error, dataset=dataset.dataset_id)
            return
        for entry in entries:
            is_first = has_data and entry is entries[0]
            self.cancel_upload(dataset.account_id, str(entry), has_data=is_first)

    def cancel_upload(self, account_id: str, entry: str, *, has_data: bool = False) -> None:
        """Remove the entry of a running upload. With `has_data`, the bytes stay counted."""
        size_bytes = 0 if has_data else OpenUpload.parse(entry).size_bytes
        actions = [AccountRow.uploads.delete({entry}), *_changed(-size_bytes)]
        try:
            try_update(AccountRow(account_id), actions, AccountRow.uploads.contains(entry))
        except PynamoDBException as error:
            log.error("capacity_not_released", error, entry=entry)

    def reserve_bytes(self, account_id: str, size_bytes: int) -> None:
        """Reserve bytes before they are stored; raise TooManyOpen above the limit."""
        row, actions = AccountRow(account_id), _changed(size_bytes)
        if try_update(row, actions, self._has_capacity(size_bytes)):
            return
        self._recount(account_id)
        if not try_update(row, actions, self._has_capacity(size_bytes)):
            self._refuse(account_id, size_bytes)

    def release_bytes(self, account_id: str, size_bytes: int) -> None:
        """Subtract bytes that were deleted or not stored."""
        counted = AccountRow.stored_bytes >= size_bytes
        try:
            try_update(AccountRow(account_id), _changed(-size_bytes), counted)
        except PynamoDBException as error:
            # Not raised: the caller's work succeeded, and the next recount corrects the sum.
            log.error("capacity_not_released", error)

    def check_version(self, account_id: str, size_bytes: int) -> None:
        """Raise an error if there is no space for another model version. Nothing is reserved.

        Args:
            account_id: the account.
            size_bytes: expected size of the version.

        Raises:
            TooLarge: the account would store too much; the message names a version to delete.
        """
        more, limit = max(1, size_bytes), self._max_stored_bytes
        for is_recounted in (False, True):
            row = find_row(AccountRow, account_id)
            stored = int(row.stored_bytes or 0) if row else 0
            is_recent = row and (row.counted_at or 0) > self._now() - _RECOUNT_MILLISECONDS
            if stored + more <= limit and (is_recent or is_recounted):
                return
            if not is_recounted:
                self._recount(account_id)
        check_version_capacity(stored, more, limit, self._versions.oldest_unserved(account_id))

    def read_version(self, account_id: str) -> int | None:
        """Return the version number of an account's sum of bytes. Each change of the sum adds 1.

        The result is None if no sum is stored yet.
        """
        row = find_row(AccountRow, account_id)
        return int(row.room_version) if row and row.room_version is not None else None

    def settle(self, account_id: str, version: int | None, more_bytes: int) -> None:
        """Add the size of written data to the sum of bytes. Do nothing if a recount may include it.

        `version` is what `read_version` returned before the data was written. If the version of the
        sum has changed since, a recount may have happened. Then nothing is added, and the next
        check recounts. `more_bytes` is negative for deleted data.
        """
        row = AccountRow(account_id)
        stale: list[Action] = [AccountRow.room_version.add(1), AccountRow.counted_at.set(0)]
        unchanged = AccountRow.room_version == version
        counted = unchanged & (AccountRow.stored_bytes >= -more_bytes)
        try:
            is_added = version is not None and try_update(row, _changed(more_bytes), counted)
            if not is_added:
                # The condition keeps this write from creating the row of a closed account again.
                try_update(row, stale, AccountRow.account_id.exists())
        except PynamoDBException as error:
            # Not raised: the caller's work succeeded, and the daily recount corrects the sum.
            log.error("capacity_not_counted", error)

    def add_form(self, account_id: str, upload_id: str, expires_at: int) -> None:
        """Count a presigned form until it is used or expires.

        `expires_at` is in milliseconds since 1970.

        Raises:
            TooManyOpen: the account has the maximum number of unused forms.
        """
        entry, forms = f"{upload_id}.{expires_at}", AccountRow.forms
        count = size(forms)
        has_place = forms.does_not_exist() | (count < MAX_FORMS) | forms.contains(entry)
        row, actions = AccountRow(account_id), [forms.add({entry})]
        if try_update(row, actions, has_place):
            return
        self._drop_forms(account_id)
        if not try_update(row, actions, has_place):
            raise TooManyOpen(
                f"{MAX_FORMS} upload forms of this account are unused, the most allowed. Use one, "
                "or wait until one has expired.",
                retry_after_seconds=60,
            )

    def _drop_forms(self, account_id: str) -> None:
        row = find_row(AccountRow, account_id)
        gone = {
            text for text in (row.forms if row else None) or () if self._is_over(account_id, text)
        }
        if gone:
            action: Action = AccountRow.forms.delete(gone)
            try_update(AccountRow(account_id), [action], AccountRow.forms.exists())

    def _is_over(self, account_id: str, form: str) -> bool:
        """Return whether a form has expired or was used. `form` is an entry of the account."""
        upload_id, _, expires_at = form.partition(".")
        if int(expires_at) <= self._now():
            return True
        row = find_row(UploadFormRow, account_id, upload_id)
        return row is not None and bool(row.status == USED)

    def _recount(self, account_id: str) -> frozenset[str]:
        """Recount all bytes that an account stores; return the entries of its running uploads."""
        for _ in range(_TRIES):
            row = find_row(AccountRow, account_id)
            version, noted = (row.room_version, row.uploads) if row else (None, None)
            datasets = [d for f in FAMILY_TYPES for d in self._datasets.of_account(account_id, f)]
            open_uploads = frozenset(self._alive(noted or (), datasets))
            sizes = (OpenUpload.parse(text).size_bytes for text in open_uploads)
            stored = sum(sizes) + sum(dataset.bytes for dataset in datasets)
            stored += self._versions.of_account(account_id)
            actions: list[Action] = [
                AccountRow.stored_bytes.set(stored),
                AccountRow.counted_at.set(self._now()),
                AccountRow.room_version.add(1),
            ]
            if ended := frozenset(noted or ()) - open_uploads:
                actions.append(AccountRow.uploads.delete(set(ended)))
            unchanged = (
                AccountRow.room_version.does_not_exist()
                if version is None
                else AccountRow.room_version == version
            )
            if try_update(AccountRow(account_id), actions, unchanged):
                return open_uploads
        return frozenset()

    def _alive(self, entries: Iterable[str], datasets: Iterable[Dataset]) -> Iterable[str]:
        """Yield the entries whose uploads are running or about to start."""
        receipts = {d.receipt_id for d in datasets if d.status == UPLOADING}
        for text in entries:
            upload = OpenUpload.parse(text)
            # A time far in the future was written before the clock was set back.
            is_young = abs(self._now() - upload.reserved_at) < _YOUNG_MILLISECONDS
            if upload.receipt_id in receipts or is_young:
                yield text

    def _has_capacity(self, size_bytes: int) -> Condition:
        """Return the condition that `size_bytes` more bytes fit, and the sum is under a day old."""
        fits: Condition = AccountRow.stored_bytes <= self._max_stored_bytes - size_bytes
        recent: Condition = AccountRow.counted_at > self._now() - _RECOUNT_MILLISECONDS
        both: Condition = fits & recent
        return both

    def _refuse(self, account_id: str, size_bytes: int) -> None:
        """Raise TooManyOpen if a limit is still exceeded, otherwise StorageUnavailable."""
        row = find_row(AccountRow, account_id)
        running = len((row.uploads if row else None) or ())
        check_capacity(int(row.stored_bytes or 0) if row else 0, size_bytes, self._max_stored_bytes)
        if running < self._max_open_uploads:
            raise StorageUnavailable
        raise TooManyOpen(
            f"{running} uploads are in progress, the limit is {self._max_open_uploads}. Wait until "
            "one has finished.",
            retry_after_seconds=10,
        )

    def _now(self) -> int:
        return to_milliseconds(self._clock())


def _changed(more_bytes: int) -> list[Action]:
    """Return the changes that add `more_bytes` to an account's sum and increase its version."""
    actions: list[Action] = [AccountRow.room_version.add(1)]
    return [*actions, AccountRow.stored_bytes.add(more_bytes)] if more_bytes else actions


def _find(row: AccountRow | None, receipt_id: str) -> list[OpenUpload]:
    """Return the entries of an upload, oldest first. Each attempt at a call has its own entry."""
    entries = map(OpenUpload.parse, (row.uploads if row else None) or ())
    found = (entry for entry in entries if entry.receipt_id == receipt_id)
    return sorted(found, key=lambda entry: entry.reserved_at)
