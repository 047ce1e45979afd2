"""Exports of datasets and of models to files."""

from __future__ import annotations

import os
from typing import BinaryIO, TypeVar

from presage import records
from presage._async.family import AsyncFamilyBase
from presage._async.fetching import save
from presage._async.transport import AsyncTransport
from presage._async.waiting import wait
from presage._records import request_id
from presage._requests import Request
from presage.errors import JobFailedError, PresageError


class AsyncExport(records.Export):
    """The record of a dataset's export, with methods such as `wait` and `save`."""

    @property
    def family(self) -> AsyncFamilyBase:
        """The family, `language` or `vision`, that the exported dataset belongs to."""
        found: AsyncFamilyBase = self.__dict__["family_of"]
        return found

    async def refresh(self) -> AsyncExport:
        """Fetch the current state. Each call returns a new `url`."""
        return await AsyncExports(self.family).get(self.dataset_id, self.id)

    async def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> AsyncExport:
        """Wait until the file of the export is written.

        Raises:
            JobFailedError: the export failed.
            WaitTimeoutError: the export is still running after `timeout` seconds.
        """
        return await _wait(self, timeout, progress)

    async def save(
        self, file: str | os.PathLike[str] | BinaryIO, *, progress: bool | None = None
    ) -> int:
        """Wait for the export, download it in bounded memory, and return its size in bytes.

        Example:
            export = await data.export("csv")
            await export.save("back.csv")

        Args:
            file: a path, or a seekable open file, to which the export is written. An existing file
                at the path is replaced only after a complete download.
            progress: whether to show progress bars; by default only on a terminal.

        Raises:
            JobFailedError: the export failed.
            FileError: the file cannot be written.
        """
        return await _save(self, file, progress)


class AsyncModelExport(records.ModelExport):
    """The record of a model's export, with methods such as `wait` and `save`."""

    @property
    def family(self) -> AsyncFamilyBase:
        """The family, `language` or `vision`, that the exported model belongs to."""
        found: AsyncFamilyBase = self.__dict__["family_of"]
        return found

    async def refresh(self) -> AsyncModelExport:
        """Fetch the current state. Each call returns a new `url`."""
        return await AsyncModelExports(self.family).get(self.model_id, self.id)

    async def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> AsyncModelExport:
        """Wait until the file of the export is written.

        Raises:
            JobFailedError: the export failed.
            WaitTimeoutError: the export is still running after `timeout` seconds.
        """
        return await _wait(self, timeout, progress)

    async def save(
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
        return await _save(self, file, progress)


ExportT = TypeVar("ExportT", AsyncExport, AsyncModelExport)


async def _wait(export: ExportT, timeout: float | None, progress: bool | None) -> ExportT:
    ended = await wait(
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


async def _save(
    export: AsyncExport | AsyncModelExport,
    file: str | os.PathLike[str] | BinaryIO,
    progress: bool | None,
) -> int:
    ended = await export.wait(progress=progress)
    if ended.url is None:
        raise PresageError(f"The export {export.id} has no file: it is {ended.status}.")
    # The size of the file is only for the progress bar.
    return await save(export.family.transport, ended.url, ended.bytes or 0, file, progress)


class AsyncModelExports:
    """The calls below `/v2/:family/models/{id}/exports`."""

    def __init__(self, family: AsyncFamilyBase) -> None:
        self._family = family
        self._transport: AsyncTransport = family.transport
        self._base = f"{family.path}/models"

    async def create(
        self, model_id: str, *, version: int | None = None, format: str | None = None
    ) -> AsyncModelExport:
        """Export a model to a zip archive that predicts without the service.

        Args:
            model_id: id of the model.
            version: number of a stored version of the model; by default the served version.
            format: `bundle`, an archive for `presage-runtime`, or `onnx`, an archive with one ONNX
                graph.
        """
        fields = {"modelVersion": version, "format": format}
        request = Request("POST", f"{self._base}/{model_id}/exports", fields=fields)
        return self._bound(await self._transport.record(request, AsyncModelExport))

    async def get(self, model_id: str, export_id: str) -> AsyncModelExport:
        """Fetch an export of a model, with its state and the URL of its file."""
        request = Request("GET", f"{self._base}/{model_id}/exports/{export_id}")
        return self._bound(await self._transport.record(request, AsyncModelExport))

    def _bound(self, export: AsyncModelExport) -> AsyncModelExport:
        export.__dict__["family_of"] = self._family
        return export


class AsyncExports:
    """The calls below `/v2/:family/datasets/{id}/exports`."""

    def __init__(self, family: AsyncFamilyBase) -> None:
        self._family = family
        self._transport: AsyncTransport = family.transport
        self._base = f"{family.path}/datasets"

    async def create(
        self, dataset_id: int, format: str, *, source: str | None = None
    ) -> AsyncExport:
        """Export the examples of a dataset to a file, which can be uploaded again.

        Args:
            dataset_id: id of the dataset.
            format: `csv` or `jsonl` for texts, `zip` for images, and for object detection also
                `coco`, `yolo` and `voc`.
            source: `upload`, `feedback` or `all`.
        """
        fields = {"format": format, "source": source}
        request = Request("POST", f"{self._base}/{dataset_id}/exports", fields=fields)
        return self._bound(await self._transport.record(request, AsyncExport))

    async def get(self, dataset_id: int, export_id: str) -> AsyncExport:
        """Fetch an export of a dataset, with its state and the URL of its file."""
        request = Request("GET", f"{self._base}/{dataset_id}/exports/{export_id}")
        return self._bound(await self._transport.record(request, AsyncExport))

    def _bound(self, export: AsyncExport) -> AsyncExport:
        export.__dict__["family_of"] = self._family
        return export
