# Written by client/tools/write_sync.py from presage._async: do not edit.
"""Exports of datasets and of models to files."""

from __future__ import annotations

import os
from typing import BinaryIO, TypeVar

from presage import records
from presage._sync.family import FamilyBase
from presage._sync.fetching import save
from presage._sync.transport import Transport
from presage._sync.waiting import wait
from presage._records import request_id
from presage._requests import Request
from presage.errors import JobFailedError, PresageError


class Export(records.Export):
    """The record of a dataset's export, with methods such as `wait` and `save`."""

    @property
    def family(self) -> FamilyBase:
        """The family, `language` or `vision`, that the exported dataset belongs to."""
        found: FamilyBase = self.__dict__["family_of"]
        return found

    def refresh(self) -> Export:
        """Fetch the current state. Each call returns a new `url`."""
        return Exports(self.family).get(self.dataset_id, self.id)

    def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> Export:
        """Wait until the file of the export is written.

        Raises:
            JobFailedError: the export failed.
            WaitTimeoutError: the export is still running after `timeout` seconds.
        """
        return _wait(self, timeout, progress)

    def save(
        self, file: str | os.PathLike[str] | BinaryIO, *, progress: bool | None = None
    ) -> int:
        """Wait for the export, download it in bounded memory, and return its size in bytes.

        Example:
            export = data.export("csv")
            export.save("back.csv")

        Args:
            file: a path, or a seekable open file, to which the export is written. An existing file
                at the path is replaced only after a complete download.
            progress: whether to show progress bars; by default only on a terminal.

        Raises:
            JobFailedError: the export failed.
            FileError: the file cannot be written.
        """
        return _save(self, file, progress)


class ModelExport(records.ModelExport):
    """The record of a model's export, with methods such as `wait` and `save`."""

    @property
    def family(self) -> FamilyBase:
        """The family, `language` or `vision`, that the exported model belongs to."""
        found: FamilyBase = self.__dict__["family_of"]
        return found

    def refresh(self) -> ModelExport:
        """Fetch the current state. Each call returns a new `url`."""
        return ModelExports(self.family).get(self.model_id, self.id)

    def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> ModelExport:
        """Wait until the file of the export is written.

        Raises:
            JobFailedError: the export failed.
            WaitTimeoutError: the export is still running after `timeout` seconds.
        """
        return _wait(self, timeout, progress)

    def save(
        self, file: str | os.PathLike[str] | BinaryIO, *, progress: bool | None = None
    ) -> int:
        """Wait for the export, download it in bounded memory, and return its size in bytes.

        Args:
            file: a path, or a seekable open file, to which the export is written. An existing file
                at the path is replaced only after a complete download.
            progress: whether to show progress bars; by default only on a terminal.

        Raises:
            JobFailedError: the export failed.
            FileError: the file cannot be written.
        """
        return _save(self, file, progress)


ExportT = TypeVar("ExportT", Export, ModelExport)


def _wait(export: ExportT, timeout: float | None, progress: bool | None) -> ExportT:
    ended = wait(
        export.refresh,
        lambda seen: seen.status in ("SUCCEEDED", "FAILED"),
        title=f"Writing {export.format}",
        share=lambda _: None,
        timeout=timeout,
        progress=progress,
    )
    if ended.status == "FAILED":
        raise JobFailedError(
            ended.failure_msg or f"The export {export.id} failed.",
            code="export_failed",
            request_id=request_id(export),
        )
    return ended


def _save(
    export: Export | ModelExport,
    file: str | os.PathLike[str] | BinaryIO,
    progress: bool | None,
) -> int:
    ended = export.wait(progress=progress)
    if ended.url is None:
        raise PresageError(f"The export {export.id} has no file: it is {ended.status}.")
    # The size of the file is only for the progress bar.
    return save(export.family.transport, ended.url, ended.bytes or 0, file, progress)


class ModelExports:
    """The calls below `/v2/:family/models/{id}/exports`."""

    def __init__(self, family: FamilyBase) -> None:
        self._family = family
        self._transport: Transport = family.transport
        self._base = f"{family.path}/models"

    def create(
        self, model_id: str, *, version: int | None = None, format: str | None = None
    ) -> ModelExport:
        """Export a model to a zip archive that predicts without the service.

        Args:
            model_id: id of the model.
            version: number of a stored version of the model; by default the served version.
            format: `bundle`, an archive for `presage-runtime`, or `onnx`, an archive with one ONNX
                graph.
        """
        fields = {"modelVersion": version, "format": format}
        request = Request("POST", f"{self._base}/{model_id}/exports", fields=fields)
        return self._bound(self._transport.record(request, ModelExport))

    def get(self, model_id: str, export_id: str) -> ModelExport:
        """Fetch an export of a model, with its state and the URL of its file."""
        request = Request("GET", f"{self._base}/{model_id}/exports/{export_id}")
        return self._bound(self._transport.record(request, ModelExport))

    def _bound(self, export: ModelExport) -> ModelExport:
        export.__dict__["family_of"] = self._family
        return export


class Exports:
    """The calls below `/v2/:family/datasets/{id}/exports`."""

    def __init__(self, family: FamilyBase) -> None:
        self._family = family
        self._transport: Transport = family.transport
        self._base = f"{family.path}/datasets"

    def create(
        self, dataset_id: int, format: str, *, source: str | None = None
    ) -> Export:
        """Export the examples of a dataset to a file, which can be uploaded again.

        Args:
            dataset_id: id of the dataset.
            format: `csv` or `jsonl` for texts, `zip` for images, and for object detection also
                `coco`, `yolo` and `voc`.
            source: `upload`, `feedback` or `all`.
        """
        fields = {"format": format, "source": source}
        request = Request("POST", f"{self._base}/{dataset_id}/exports", fields=fields)
        return self._bound(self._transport.record(request, Export))

    def get(self, dataset_id: int, export_id: str) -> Export:
        """Fetch an export of a dataset, with its state and the URL of its file."""
        request = Request("GET", f"{self._base}/{dataset_id}/exports/{export_id}")
        return self._bound(self._transport.record(request, Export))

    def _bound(self, export: Export) -> Export:
        export.__dict__["family_of"] = self._family
        return export
