"""Creates exports of datasets and models, and returns their progress."""

from __future__ import annotations

from collections.abc import Callable
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
    MAX_KEPT_MODELS,
    ONNX,
    SUCCEEDED,
    Export,
    ExportedModel,
    check_open_exports,
    checked_format,
)
from chalicelib.domain.jobs.messages import ExportJob
from chalicelib.domain.models.model import Model
from chalicelib.errors import (
    BadRequest,
    DatasetBeingDeleted,
    ExportNotFound,
    ModelNotReady,
    ServiceError,
)
from chalicelib.stores.jobs.queues import EXPORT, Queues, retried_by_sweep

if TYPE_CHECKING:
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.jobs.exports import ExportStore


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
        """Create an export of a dataset. It will contain the examples that exist when the job runs.

        The source is `upload`, `feedback` or `all`.

        Raises:
            InvalidParameter: a dataset of this type cannot be exported in the format `kind`.
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
        _announce(self._queues, export)
        return export

    def get(self, view: DatasetView, export_id: str) -> Export:
        """Return an export; raise ExportNotFound if it does not exist or has expired."""
        owner, is_id = view.dataset.account_id, STRING_ID.fullmatch(export_id) is not None
        found = self._exports.find(owner, export_id) if is_id else None
        is_gone = view.dataset.status == DELETION_PENDING
        if found is None or is_gone or found.dataset_id != view.dataset.dataset_id:
            raise ExportNotFound(export_id[:100])
        return found

    def url(self, view: DatasetView, export: Export) -> str | None:
        """Return a URL of the export file, valid for 30 minutes; None if there is no file yet.

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


class ModelExportService:
    """Creates exports of models, and returns their status and download URLs."""

    def __init__(
        self,
        exports: ExportStore,
        queues: Queues,
        require_graph: Callable[[Model], None],
        check_kept: Callable[[str, str, str], None],
        clock: Clock,
    ) -> None:
        """Store the dependencies.

        `require_graph` raises InvalidParameter if a model cannot be exported as one ONNX graph.
        `check_kept` raises an error if a version was removed (`ServedModels.check_kept`).
        """
        self._check_kept = check_kept
        self._exports = exports
        self._queues = queues
        self._require_graph = require_graph
        self._clock = clock

    def create(self, model: Model, kind: str) -> Export:
        """Create an export of the version that a model serves.

        To export another version, pass the result of `VersionService.at`.

        Raises:
            ModelNotReady: no training of the model has succeeded.
            InvalidParameter: the model cannot be exported in the format `kind`.
            TooManyOpen: the account has the maximum number of exports of models.
            Conflict: the version was removed during the call.
        """
        version = next((one for one in model.versions.items if one.folder == model.version), None)
        if version is None:
            raise ModelNotReady(model.model_id, model.status)
        if kind == ONNX:
            # Now, because a caller should not wait for a job that must fail.
            self._require_graph(model)
        now = self._clock()
        stored = [one for one in self._exports.of_account(model.account_id) if one.model]
        check_open_exports(stored, MAX_KEPT_MODELS, now, "exports of models")
        export = Export(
            export_id=object_id(),
            account_id=model.account_id,
            family=model.family,
            dataset_id=0,
            format=kind,
            source="",
            created_at=now,
            updated_at=now,
            expires_at=now + KEPT,
            model=ExportedModel(model.model_id, version.number, version.folder),
        )
        self._exports.create(export)
        try:
            # From now on the row protects the version from removal, but it may have been removed
            # before.
            self._check_kept(model.account_id, model.model_id, version.folder)
        except ServiceError:
            self._exports.delete(export)
            raise
        _announce(self._queues, export)
        return export

    def get(self, model: Model, export_id: str) -> Export:
        """Return an export; raise ExportNotFound if it does not exist or has expired."""
        is_id = STRING_ID.fullmatch(export_id) is not None
        found = self._exports.find(model.account_id, export_id) if is_id else None
        if found is None or found.model is None or found.model.model_id != model.model_id:
            raise ExportNotFound(export_id[:100])
        return found

    def url(self, export: Export) -> str | None:
        """Return a URL of the export file, valid for 30 minutes; None if there is no file yet."""
        return self._exports.url(export) if export.status == SUCCEEDED else None


def _announce(queues: Queues, export: Export) -> None:
    """Send the job of a stored export. If the queue fails, SweepService sends it later."""
    with retried_by_sweep("export", export=export.export_id):
        queues.send(EXPORT, ExportJob.of(export))
