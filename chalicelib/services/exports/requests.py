"""Creates exports of datasets, and returns their progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.common.head_calls import current_head_call
from chalicelib.domain.common.ids import STRING_ID
from chalicelib.domain.common.limits import IMAGE_URL_SECONDS
from chalicelib.domain.common.repeats import object_id
from chalicelib.domain.datasets.dataset import DELETION_PENDING, DatasetView
from chalicelib.domain.jobs.export import (
    KEPT,
    MAX_KEPT,
    SUCCEEDED,
    Export,
    check_open_exports,
    checked_format,
)
from chalicelib.domain.jobs.messages import ExportJob
from chalicelib.errors import (
    BadRequest,
    DatasetBeingDeleted,
    ExportNotFound,
)
from chalicelib.stores.jobs.queues import EXPORT, retried_by_sweep

if TYPE_CHECKING:
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.jobs.exports import ExportStore
    from chalicelib.stores.jobs.queues import Queues


class ExportService:
    """Creates exports of datasets, and returns their status and download URLs."""

    def __init__(
        self, datasets: DatasetStore, exports: ExportStore, queues: Queues, clock: Clock
    ) -> None:
        self._exports = exports
        self._datasets = datasets
        self._queues = queues
        self._clock = clock

    def create(self, account: Account, view: DatasetView, kind: str, source: str) -> Export:
        """Create an export of a dataset, with the examples that it has when the job runs.

        Args:
            account: owner of the dataset.
            view: the dataset.
            kind: format of the export.
            source: `upload`, `feedback` or `all`.

        Raises:
            InvalidParameter: a dataset of this type cannot be exported in this format.
            BadRequest: the dataset has no example to export.
            DatasetBeingDeleted: the dataset is being deleted.
            TooManyOpen: the account has the maximum number of exports.
        """
        dataset = view.dataset
        checked_format(dataset.type, kind)
        if dataset.status == DELETION_PENDING:
            raise DatasetBeingDeleted(dataset.dataset_id)
        now = self._clock()
        export = Export(
            export_id=object_id(),
            account_id=account.account_id,
            family=dataset.family,
            dataset_id=dataset.dataset_id,
            format=kind,
            source=source,
            created_at=now,
            updated_at=now,
            expires_at=now + KEPT,
        )
        if not any(c.count(one) for c in dataset.counts for one in export.sources):
            raise BadRequest(
                f"Dataset {dataset.dataset_id} has no examples of source {source} to export. "
                "Upload some, or name another 'source'.",
                code="nothing_to_export",
            )
        stored = [one for one in self._exports.of_account(account.account_id) if not one.model]
        check_open_exports(stored, MAX_KEPT, now, "exports")
        self._exports.create(export)
        with retried_by_sweep("export", export=export.export_id):
            self._queues.send(EXPORT, ExportJob.of(export))
        return export

    def get(self, view: DatasetView, export_id: str) -> Export:
        """Return an export.

        Raises:
            ExportNotFound: the dataset has no such export, or it has expired.
        """
        owner, is_id = view.dataset.account_id, STRING_ID.fullmatch(export_id) is not None
        found = self._exports.find(owner, export_id) if is_id else None
        is_gone = view.dataset.status == DELETION_PENDING
        if found is None or is_gone or found.dataset_id != view.dataset.dataset_id:
            raise ExportNotFound(export_id[:100])
        return found

    def url(self, view: DatasetView, export: Export) -> str | None:
        """Return a URL of the file, valid for 30 minutes; None if the file does not exist yet.

        Raises:
            ExportNotFound: the dataset is being deleted together with its exports.
        """
        if export.status != SUCCEEDED:
            return None
        url = self._exports.url(export)
        if current_head_call():
            return url
        # Noted after the URL was signed, so that it never outlives the time in the row.
        until = to_milliseconds(self._clock()) + 1000 * IMAGE_URL_SECONDS
        if not self._datasets.note_urls(view.dataset, until):
            raise ExportNotFound(export.export_id)
        return url
