"""Batches: many texts, pictures or documents answered in the background."""

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
from presage._records import decode
from presage._requests import Request, camel
from presage._sources import File
from presage.errors import JobFailedError, PresageError

_READING = [
    "task",
    "form_type",
    "form_template",
    "layout",
    "output",
    "link_tables",
    "alphabet",
    "pages",
]
"""Fields of reading documents."""


class AsyncBatch(records.Batch):
    """A batch: its record, and what can be done with it."""

    @property
    def family(self) -> AsyncFamilyBase:
        """The family it belongs to."""
        found: AsyncFamilyBase = self.__dict__["family_of"]
        return found

    async def refresh(self) -> AsyncBatch:
        """Fetch its present state; `result_url` is a new one each time."""
        return await AsyncBatchList(self.family).get(self.id)

    async def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> AsyncBatch:
        """Wait until every line is answered.

        Raises:
            JobFailedError: it failed, or was cancelled.
            WaitTimeoutError: it goes on after `timeout` seconds.
        """
        ended = await wait(
            self.refresh,
            lambda seen: seen.status not in ("QUEUED", "RUNNING"),
            title=f"Answering {self.name}",
            share=lambda seen: float(seen.progress),
            timeout=timeout,
            progress=progress,
        )
        if ended.status != "SUCCEEDED":
            raise JobFailedError(ended.failure_msg or f"The batch {self.id} is {ended.status}.")
        return ended

    async def save(
        self, file: str | os.PathLike[str] | BinaryIO, *, progress: bool | None = None
    ) -> int:
        """Fetch its result in bounded memory; returns its bytes.

        Args:
            file: a path, which is replaced once the whole file is there, or a seekable open file.
            progress: whether to show a bar; None shows it on a terminal.

        Raises:
            PresageError: there is no result.
            FileError: the file cannot be written.
        """
        now = await self.refresh()
        if now.result_url is None:
            raise PresageError(f"The batch {self.id} has no result: it is {now.status}.")
        transport = self.family.transport
        return await save(transport, now.result_url, now.result_bytes or 0, file, progress)

    async def results(self) -> list[dict[str, Any]]:
        """Fetch its result of JSON lines as a list: of batches that fit into memory."""
        if self.format != "jsonl":
            raise PresageError(f"The result of the batch {self.id} is {self.format}: save it.")
        stream = io.BytesIO()
        await self.save(stream, progress=False)
        return [json.loads(line) for line in stream.getvalue().splitlines()]

    async def cancel(self) -> AsyncBatch:
        """Cancel it, or remove it with its result when it has ended."""
        return await AsyncBatchList(self.family).cancel(self.id)


class AsyncBatchMaker:
    """What asks for batches, and knows those it made."""

    def __init__(self, family: AsyncFamilyBase, name: str = "batches") -> None:
        self._family = family
        self._transport: AsyncTransport = family.transport
        self._base = f"{family.path}/{name}"

    async def _create(
        self, fields: dict[str, Any], file: File | None, progress: bool | None
    ) -> AsyncBatch:
        if file is None:
            return await self._asked(Request("POST", self._base, fields=fields))
        async with self._family.uploads.attached(file, "data", "path", progress) as part:
            sent = {**fields, **part.fields}
            return await self._asked(Request("POST", self._base, fields=sent, files=part.files))

    async def _asked(self, request: Request) -> AsyncBatch:
        return self._bound(await self._transport.record(request, AsyncBatch))

    def _bound(self, batch: AsyncBatch) -> AsyncBatch:
        batch.__dict__["family_of"] = self._family
        return batch


class AsyncBatchList(AsyncBatchMaker):
    """What the batches of both families have."""

    async def get(self, batch_id: str) -> AsyncBatch:
        """Fetch how far a batch is, and where its result can be fetched."""
        request = Request("GET", f"{self._base}/{batch_id}")
        return self._bound(await self._transport.record(request, AsyncBatch))

    def list(self) -> AsyncPages[AsyncBatch]:
        """List the batches, the newest first."""
        return AsyncPages(
            self._transport,
            Request("GET", self._base),
            lambda item: self._bound(decode(item, AsyncBatch)),
        )

    async def cancel(self, batch_id: str) -> AsyncBatch:
        """Cancel a batch, or remove one that has ended with its result."""
        request = Request("DELETE", f"{self._base}/{batch_id}")
        return self._bound(await self._transport.record(request, AsyncBatch))


class AsyncBatches(AsyncBatchList):
    """`/v2/language/batches`."""

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
        text_column: str | int | None = None,
        progress: bool | None = None,
    ) -> AsyncBatch:
        """Have many texts answered; a prediction is reserved for each.

        Args:
            model_id: what answers.
            file: texts as csv, tsv, xlsx or JSON lines: a path, an address, bytes or open file.
            dataset_id: a dataset whose uploaded texts are answered, in place of a file.
            kind: `intent` or `sentiment`; the model's type decides where it is missing.
            num_results: most labels of an answer.
            name: of the batch; that of the file where it is missing.
            format: of the result, `jsonl` or `csv`.
            partial: whether as many lines are answered as predictions are left.
            text_column: column of the texts, by name or by position from 1 without header.
            progress: whether to show bars; None shows them on a terminal.
        """
        fields: dict[str, Any] = {"modelId": model_id, "datasetId": dataset_id, "kind": kind}
        fields |= {"numResults": num_results, "name": name, "format": format}
        fields |= {"partial": partial, "textColumn": text_column}
        return await self._create(fields, file, progress)


class AsyncPictureBatches(AsyncBatchList):
    """`/v2/vision/batches`."""

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
        **reading: Any,
    ) -> AsyncBatch:
        """Have many pictures or documents answered; a prediction is reserved for each picture.

        Args:
            model_id: what answers; `OCRModel` reads documents, which is not counted.
            file: a zip archive or a folder of pictures, of PDFs too where they are read: a path,
                an address, bytes or open file.
            dataset_id: a dataset whose uploaded pictures are answered, in place of a file.
            kind: `predict`, `detect` or `ocr`; the model's type decides where it is missing.
            num_results: most labels of an answer.
            name: of the batch; that of the file where it is missing.
            format: of the result, `jsonl` or `csv`.
            partial: whether as many pictures are answered as predictions are left.
            progress: whether to show bars; None shows them on a terminal.
            reading: what `ocr` takes: task, form_type, form_template, layout, output, link_tables,
                alphabet, pages.

        Raises:
            TypeError: it is none of these.
        """
        fields: dict[str, Any] = {"modelId": model_id, "datasetId": dataset_id, "kind": kind}
        fields |= {"numResults": num_results, "name": name, "format": format}
        fields["partial"] = partial
        for member, value in reading.items():
            if member not in _READING:
                raise TypeError(f"{member} is none of {', '.join(_READING)}.")
            fields[camel(member)] = json.dumps(value) if isinstance(value, dict) else value
        return await self._create(fields, file, progress)
