"""Accepts exports of models and returns their progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.ids import STRING_ID
from chalicelib.domain.common.repeats import object_id
from chalicelib.domain.jobs.export import (
    KEPT,
    MAX_KEPT_MODELS,
    ONNX,
    SUCCEEDED,
    Export,
    ExportedModel,
    check_open_exports,
)
from chalicelib.domain.jobs.messages import ExportJob
from chalicelib.domain.models.model import Model
from chalicelib.errors import ExportNotFound, ModelNotReady
from chalicelib.stores.jobs.queues import EXPORT, retried_by_sweep

if TYPE_CHECKING:
    from chalicelib.stores.jobs.exports import ExportStore
    from chalicelib.stores.jobs.queues import Queues


class ModelExportService:
    """Creates exports of models, and returns their status and download URLs."""

    def __init__(
        self,
        exports: ExportStore,
        queues: Queues,
        require_graph: Callable[[Model], None],
        clock: Clock,
    ) -> None:
        """Store the dependencies.

        Args:
            exports: store of the exports.
            queues: the queues.
            require_graph: raises InvalidParameter if a model cannot be exported as one ONNX graph.
            clock: returns the current time.
        """
        self._exports = exports
        self._queues = queues
        self._require_graph = require_graph
        self._clock = clock

    def create(self, model: Model, kind: str) -> Export:
        """Create an export of the version that a model serves.

        Args:
            model: the model. To export another version, pass the result of `VersionService.at`.
            kind: format of the export.

        Raises:
            ModelNotReady: no training of the model has succeeded.
            InvalidParameter: the model cannot be exported in this format.
            TooManyOpen: the account has the maximum number of exports of models.
        """
        version = next((one for one in model.versions.kept if one.folder == model.version), None)
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
        with retried_by_sweep("export", export=export.export_id):
            self._queues.send(EXPORT, ExportJob.of(export))
        return export

    def get(self, model: Model, export_id: str) -> Export:
        """Return an export.

        Raises:
            ExportNotFound: the model has no such export, or it has expired.
        """
        is_id = STRING_ID.fullmatch(export_id) is not None
        found = self._exports.find(model.account_id, export_id) if is_id else None
        if found is None or found.model is None or found.model.model_id != model.model_id:
            raise ExportNotFound(export_id[:100])
        return found

    def url(self, export: Export) -> str | None:
        """Return a URL of the file, valid for 30 minutes; None if the file does not exist yet."""
        return self._exports.url(export) if export.status == SUCCEEDED else None
