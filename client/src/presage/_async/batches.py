"""Batches: predictions of many texts, images or documents in the background."""

from __future__ import annotations

import io
import json
import os
from typing import Any, BinaryIO

from presage import records
from presage._async.family import AsyncFamilyBase
from presage._async.fetching import save
from presage._async.pages import AsyncPages
from presage._async.transport import AsyncTransport
from presage._async.waiting import wait
from presage._files import open_batch
from presage._records import decode, request_id
from presage._requests import Request
from presage._sources import (
    BatchOcrOptions,
    BatchTextOptions,
    File,
    Source,
    Unpack,
    api_fields,
)
from presage.errors import JobFailedError, PresageError


class AsyncBatch(records.Batch):
    """A batch record with methods, such as `wait` and `save`."""

    @property
    def family(self) -> AsyncFamilyBase:
        """The family, `language` or `vision`, that the batch belongs to."""
        found: AsyncFamilyBase = self.__dict__["family_of"]
        return found

    async def refresh(self) -> AsyncBatch:
        """Fetch the current state. Each call returns a new `result_url`."""
        return await AsyncBatchList(self.family).get(self.id)

    async def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> AsyncBatch:
        """Wait until the batch has ended.

        Raises:
            JobFailedError: the batch failed or was cancelled.
            WaitTimeoutError: the batch is still running after `timeout` seconds.
        """
        ended = await wait(
            self.refresh,
            lambda seen: seen.status not in ("QUEUED", "RUNNING"),
            title=f"Predicting {self.name}",
            share=lambda seen: float(seen.progress),
            timeout=timeout,
            progress=progress,
        )
        if ended.status != "SUCCEEDED":
            raise JobFailedError(
                ended.failure_msg or f"The batch {self.id} is {ended.status}.",
                code="batch_cancelled" if ended.status == "CANCELLED" else "batch_failed",
                request_id=request_id(self),
            )
        return ended

    async def save(
        self, file: str | os.PathLike[str] | BinaryIO, *, progress: bool | None = None
    ) -> int:
        """Download the batch's result in bounded memory, and return its size in bytes.

        Args:
            file: a path, or a seekable open file, to which the result is written. An existing file
                at the path is replaced only after a complete download.
            progress: whether to show a bar; by default only on a terminal.

        Raises:
            PresageError: the batch has no result.
            FileError: the file cannot be written.
        """
        # The URL of a result expires, so each download asks for a new one.
        now = await self.refresh()
        if now.result_url is None:
            raise PresageError(f"The batch {self.id} has no result: it is {now.status}.")
        transport = self.family.transport
        return await save(transport, now.result_url, now.result_bytes or 0, file, progress)

    async def results(self) -> list[dict[str, Any]]:
        """Return the objects of a JSON Lines result as a list, which must fit into memory."""
        if self.format != "jsonl":
            raise PresageError(f"The result of the batch {self.id} is {self.format}: save it.")
        stream = io.BytesIO()
        await self.save(stream, progress=False)
        return [json.loads(line) for line in stream.getvalue().splitlines()]

    async def cancel(self) -> AsyncBatch:
        """Cancel the batch if it is running; otherwise delete it and its result."""
        return await AsyncBatchList(self.family).cancel(self.id)


class AsyncBatchMaker:
    """Base class of batches and rankings. Its method `_create` sends a file to make a batch."""

    def __init__(self, family: AsyncFamilyBase, name: str = "batches") -> None:
        self._family = family
        self._transport: AsyncTransport = family.transport
        self._base = f"{family.path}/{name}"

    async def _create(
        self, fields: dict[str, Any], file: File | Source | None, progress: bool | None
    ) -> AsyncBatch:
        if file is None:
            # The fields name a dataset instead.
            return await self._post(Request("POST", self._base, fields=fields))
        async with self._family.uploads.attached(file, "data", "path", progress) as part:
            sent = {**fields, **part.fields}
            return await self._post(Request("POST", self._base, fields=sent, files=part.files))

    async def _post(self, request: Request) -> AsyncBatch:
        return self._bound(await self._transport.record(request, AsyncBatch))

    def _bound(self, batch: AsyncBatch) -> AsyncBatch:
        batch.__dict__["family_of"] = self._family
        return batch


class AsyncBatchList(AsyncBatchMaker):
    """Base class of `AsyncBatches` and `AsyncPictureBatches`, with the calls that both have."""

    async def get(self, batch_id: str) -> AsyncBatch:
        """Fetch a batch, with its state and the URL of its result."""
        request = Request("GET", f"{self._base}/{batch_id}")
        return self._bound(await self._transport.record(request, AsyncBatch))

    def list(self) -> AsyncPages[AsyncBatch]:
        """List the batches of the family, newest first."""
        return AsyncPages(
            self._transport,
            Request("GET", self._base),
            lambda item: self._bound(decode(item, AsyncBatch)),
        )

    async def cancel(self, batch_id: str) -> AsyncBatch:
        """Cancel a running batch, or delete an ended batch and its result."""
        request = Request("DELETE", f"{self._base}/{batch_id}")
        return self._bound(await self._transport.record(request, AsyncBatch))


class AsyncBatches(AsyncBatchList):
    """The calls below `/v2/language/batches`."""

    async def create(
        self,
        model_id: str,
        file: File | None = None,
        *,
        dataset_id: int | None = None,
        kind: str | None = None,
        num_results: int | None = None,
        name: str | None = None,
        format: str | None = None,
        partial: bool | None = None,
        progress: bool | None = None,
        **reading: Unpack[BatchTextOptions],
    ) -> AsyncBatch:
        """Predict many texts in the background. One prediction is reserved for each text.

        Args:
            model_id: id of the model.
            file: texts as CSV, TSV, XLSX or JSON Lines: a path, URL, bytes or open file.
            dataset_id: a dataset whose uploaded texts are predicted, instead of a file.
            kind: `intent` or `sentiment`; by default the model's type decides.
            num_results: maximum number of labels per prediction.
            name: name of the batch; by default the file's name.
            format: format of the result: `jsonl`, `csv` or `xlsx`.
            partial: whether to predict only some of the texts if the quota is too small for all.
            progress: whether to show progress bars; by default only on a terminal.
            reading: `text_column`, `delimiter`, `header`, `sheet` and `encoding` as for uploads.
                CSV and XLSX results have two more options. `columns="input"` puts all columns of
                the input file first. `review_below` is a probability: the column `review` is `yes`
                for less probable predictions.

        Raises:
            TypeError: an option is unknown.
        """
        fields: dict[str, Any] = {"modelId": model_id, "datasetId": dataset_id, "kind": kind}
        fields |= {"numResults": num_results, "name": name, "format": format}
        fields |= {"partial": partial, **api_fields(reading, BatchTextOptions)}
        return await self._create(fields, file, progress)


class AsyncPictureBatches(AsyncBatchList):
    """The calls below `/v2/vision/batches`."""

    async def create(
        self,
        model_id: str,
        file: File | None = None,
        *,
        dataset_id: int | None = None,
        kind: str | None = None,
        num_results: int | None = None,
        name: str | None = None,
        format: str | None = None,
        partial: bool | None = None,
        progress: bool | None = None,
        **reading: Unpack[BatchOcrOptions],
    ) -> AsyncBatch:
        """Predict many images, or read many documents. One prediction is reserved for each image.

        Args:
            model_id: id of the model. `OCRModel` reads documents, which do not count as
                predictions.
            file: a zip archive or folder of images (for `OCRModel` also PDFs): a path, URL, bytes
                or open file. A folder is sent with its subfolders; warnings name the files that
                are not sent, and images that are scaled down.
            dataset_id: a dataset whose uploaded images are predicted, instead of a file.
            kind: `predict`, `detect` or `ocr`; by default the model's type decides.
            num_results: maximum number of labels per prediction.
            name: name of the batch; by default the file's name.
            format: format of the result: `jsonl`, `csv` or `xlsx`.
            partial: whether to predict only some of the images if the quota is too small for all.
            progress: whether to show progress bars; by default only on a terminal.
            reading: options of `ocr`: task, form_type, form_template, layout, output, link_tables,
                alphabet, pages, form_fields, page_furniture.

        Raises:
            TypeError: an option is unknown.
        """
        fields: dict[str, Any] = {"modelId": model_id, "datasetId": dataset_id, "kind": kind}
        fields |= {"numResults": num_results, "name": name, "format": format}
        fields |= {"partial": partial, **api_fields(reading, BatchOcrOptions)}
        return await self._create(fields, open_batch(file, model_id, kind, progress), progress)
