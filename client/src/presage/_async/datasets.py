"""Datasets and their examples: uploaded, added to, listed, deleted."""

from __future__ import annotations

import builtins
from typing import Any

from presage import records
from presage._async.exports import AsyncExport, AsyncExports
from presage._async.family import AsyncFamilyBase
from presage._async.models import AsyncModel, AsyncModels
from presage._async.pages import AsyncPages
from presage._async.transport import AsyncTransport
from presage._async.waiting import wait
from presage._records import decode
from presage._requests import Request, camel, members
from presage._sources import File
from presage.errors import JobFailedError


class AsyncDataset(records.Dataset):
    """A dataset: its record, and what can be done with it."""

    @property
    def family(self) -> AsyncFamilyBase:
        """The family it belongs to."""
        found: AsyncFamilyBase = self.__dict__["family_of"]
        return found

    @property
    def labels(self) -> list[records.Label]:
        """Its labels, in order of first appearance."""
        return self.label_summary.labels

    async def refresh(self) -> AsyncDataset:
        """Fetch its present state."""
        return await AsyncDatasets(self.family).get(self.id)

    async def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> AsyncDataset:
        """Wait until what was uploaded has been read.

        Raises:
            JobFailedError: it could not be.
            WaitTimeoutError: it goes on after `timeout` seconds.
        """
        read = await wait(
            self.refresh,
            lambda seen: seen.status_msg != "UPLOADING",
            title=f"Reading {self.name}",
            share=lambda _: None,
            timeout=timeout,
            progress=progress,
        )
        if read.status_msg.startswith("FAILED"):
            raise JobFailedError(read.status_msg.partition(": ")[2] or read.status_msg)
        return read

    async def add(self, file: File, *, wait: bool = True, **reading: Any) -> AsyncDataset:
        """Add the examples of a file; arguments as of `datasets.upload`."""
        return await AsyncDatasets(self.family).add(self.id, file, wait=wait, **reading)

    async def train(self, name: str, **params: Any) -> AsyncModel:
        """Queue a training; arguments as of `models.train`."""
        return await AsyncModels(self.family).train(self.id, name, **params)

    def models(self) -> AsyncPages[records.Model]:
        """List its models."""
        return AsyncModels(self.family).list(self.id)

    def examples(self, *, source: str = "upload") -> AsyncPages[records.Example]:
        """List its examples; counts to the monthly limit of such calls, a page a call."""
        return AsyncExamples(self.family).list(self.id, source=source)

    def browse(self, **which: Any) -> AsyncPages[records.BrowsedExample]:
        """Look through its examples; arguments as of `examples.browse`."""
        return AsyncExamples(self.family).browse(self.id, **which)

    async def export(self, format: str, **how: Any) -> AsyncExport:
        """Have its examples written as a file; arguments as of `exports.create`."""
        return await AsyncExports(self.family).create(self.id, format, **how)

    def receipts(self) -> AsyncPages[records.Receipt]:
        """List what became of the rows of each of its uploads."""
        return AsyncDatasets(self.family).receipts(self.id)

    async def fix(self, *corrections: dict[str, Any], **report: Any) -> records.Correction:
        """Mend its examples, all or none; arguments as of `datasets.fix`."""
        return await AsyncDatasets(self.family).fix(self.id, *corrections, **report)

    def corrections(self) -> AsyncPages[records.Correction]:
        """List what changes of its examples did, the newest first."""
        return AsyncDatasets(self.family).corrections(self.id)

    async def delete(self) -> records.Deletion:
        """Delete it; its models stay."""
        return await AsyncDatasets(self.family).delete(self.id)


class AsyncDatasets:
    """`/v2/:family/datasets`."""

    def __init__(self, family: AsyncFamilyBase) -> None:
        self._family = family
        self._transport: AsyncTransport = family.transport
        self._base = f"{family.path}/datasets"

    async def upload(
        self,
        file: File,
        *,
        type: str | None = None,
        name: str | None = None,
        language: str | None = None,
        wait: bool = True,
        timeout: float | None = None,
        progress: bool | None = None,
        **reading: Any,
    ) -> AsyncDataset:
        """Upload a file as a dataset.

        Example:
            data = await client.language.datasets.upload("tickets.csv", type="text-intent")

        Args:
            file: path, address, bytes or open file; of pictures also a folder with a folder for
                each label.
            type: what it holds, such as `text-intent` or `image`.
            name: of the dataset; the file's where it is missing.
            language: of the texts.
            wait: whether to wait until it is read.
            timeout: longest wait, in seconds.
            progress: whether to show progress bars; None shows them on a terminal.
            reading: what the file does not say, in snake case: `format`, `delimiter`,
                `text_column`, `label_column`, `header`, `sheet`, `strict`, `shrink`.

        Raises:
            JobFailedError: it could not be read.
        """
        sent = {"type": type, "name": name, "language": language, **_named(reading)}
        async with self._family.uploads.attached(file, "data", "path", progress) as part:
            fields = {**sent, **part.fields}
            request = Request("POST", f"{self._base}/upload", fields=fields, files=part.files)
            dataset = self._bound(await self._transport.record(request, AsyncDataset))
        return await dataset.wait(timeout=timeout, progress=progress) if wait else dataset

    async def check(
        self,
        file: File,
        *,
        type: str | None = None,
        language: str | None = None,
        progress: bool | None = None,
        **reading: Any,
    ) -> records.Validation:
        """Tell what an upload of a file would become, and keep nothing; arguments as of `upload`.

        A file that was sent by `uploads.send` may be checked and then uploaded by the same path.
        """
        sent = {"type": type, "language": language, **_named(reading)}
        async with self._family.uploads.attached(file, "data", "path", progress) as part:
            fields = {**sent, **part.fields}
            request = Request(
                "POST",
                f"{self._base}/validate",
                fields=fields,
                files=part.files,
                is_counted_once=True,
            )
            return await self._transport.record(request, records.Validation)

    async def add(
        self,
        dataset_id: int,
        file: File,
        *,
        wait: bool = True,
        timeout: float | None = None,
        progress: bool | None = None,
        **reading: Any,
    ) -> AsyncDataset:
        """Add the examples of a file to a dataset; arguments as of `upload`."""
        async with self._family.uploads.attached(file, "data", "path", progress) as part:
            path = f"{self._base}/{dataset_id}/upload"
            fields = {**_named(reading), **part.fields}
            request = Request("PUT", path, fields=fields, files=part.files)
            dataset = self._bound(await self._transport.record(request, AsyncDataset))
        return await dataset.wait(timeout=timeout, progress=progress) if wait else dataset

    def _bound(self, dataset: AsyncDataset) -> AsyncDataset:
        dataset.__dict__["family_of"] = self._family
        return dataset

    async def create(
        self,
        name: str,
        *,
        labels: list[str] | None = None,
        type: str | None = None,
        language: str | None = None,
    ) -> AsyncDataset:
        """Create a dataset without examples, with labels that have none yet."""
        fields = {"name": name, "type": type, "language": language}
        fields["labels"] = ",".join(labels) if labels else None
        request = Request("POST", self._base, fields=fields)
        return self._bound(await self._transport.record(request, AsyncDataset))

    async def get(self, dataset_id: int) -> AsyncDataset:
        """Fetch a dataset with its labels."""
        request = Request("GET", f"{self._base}/{dataset_id}")
        return self._bound(await self._transport.record(request, AsyncDataset))

    def list(
        self, *, is_global: bool = False, name: str | None = None, status: str | None = None
    ) -> AsyncPages[AsyncDataset]:
        """List datasets by id: the account's, or those that ship with the service.

        Args:
            is_global: whether those that ship are meant.
            name: only those with this in their names.
            status: only those that are `UPLOADING`, `SUCCEEDED`, `FAILED` or `DELETION_PENDING`.
        """
        query = {"global": is_global or None, "name": name, "status": status}
        request = Request("GET", self._base, query=query)
        return AsyncPages(
            self._transport, request, lambda item: self._bound(decode(item, AsyncDataset))
        )

    def receipts(self, dataset_id: int) -> AsyncPages[records.Receipt]:
        """List what became of the rows of each upload of a dataset."""
        request = Request("GET", f"{self._base}/{dataset_id}/receipts")
        return AsyncPages(self._transport, request, lambda item: decode(item, records.Receipt))

    async def rename(self, dataset_id: int, name: str) -> AsyncDataset:
        """Give a dataset another name."""
        request = Request("PUT", f"{self._base}/{dataset_id}", fields={"name": name})
        return self._bound(await self._transport.record(request, AsyncDataset))

    async def change_label(
        self,
        dataset_id: int,
        label_id: int,
        *,
        name: str | None = None,
        merge_into: int | None = None,
    ) -> records.ChangedLabel:
        """Give a label another name, or put its examples under another label."""
        path = f"{self._base}/{dataset_id}/labels/{label_id}"
        request = Request("PUT", path, fields={"name": name, "mergeInto": merge_into})
        return await self._transport.record(request, records.ChangedLabel)

    async def remove_label(self, dataset_id: int, label_id: int) -> records.Correction:
        """Remove a label with its examples."""
        request = Request("DELETE", f"{self._base}/{dataset_id}/labels/{label_id}")
        return await self._transport.record(request, records.Correction)

    async def fix(
        self,
        dataset_id: int,
        *corrections: dict[str, Any],
        from_report_of: str | None = None,
        minimum_confidence: float | None = None,
    ) -> records.Correction:
        """Move or remove up to 10,000 examples, all or none, or do what a model's report suggests.

        Example:
            first = await data.browse(contains="parcel").first()
            await data.fix({"exampleId": first.id, "label": data.labels[1].name})

        Args:
            dataset_id: of the dataset.
            corrections: each with `exampleId` and one of `label`, `labelId` and `remove`.
            from_report_of: id of a model that was trained from it, in place of corrections.
            minimum_confidence: leaves what the report is less sure of alone; 0.5 if missing.
        """
        fields = {
            "corrections": list(corrections) or None,
            "fromReportOf": from_report_of,
            "minimumConfidence": minimum_confidence,
        }
        request = Request("POST", f"{self._base}/{dataset_id}/corrections", fields=fields)
        return await self._transport.record(request, records.Correction)

    def corrections(self, dataset_id: int) -> AsyncPages[records.Correction]:
        """List what corrections and other changes of examples did, the newest first."""
        request = Request("GET", f"{self._base}/{dataset_id}/corrections")
        return AsyncPages(self._transport, request, lambda item: decode(item, records.Correction))

    async def delete(self, dataset_id: int) -> records.Deletion:
        """Delete a dataset; its models stay. The record returned tells how far that is."""
        request = Request("DELETE", f"{self._base}/{dataset_id}")
        return await self._transport.record(request, records.Deletion)

    async def delete_failed(self) -> builtins.list[records.Deletion]:
        """Delete the datasets whose first upload failed and that hold no example."""
        request = Request("DELETE", self._base, query={"status": "FAILED"})
        found: builtins.list[records.Deletion] = []
        while page := members(await self._transport.send(request))["data"]:
            found += [decode(item, records.Deletion) for item in page]
        return found


def _named(reading: dict[str, Any]) -> dict[str, Any]:
    """Name what is known of a file as the API does."""
    return {camel(name): value for name, value in reading.items()}


class AsyncExamples:
    """`/v2/:family/examples`: lists, which count to a monthly limit, and single additions."""

    def __init__(self, family: AsyncFamilyBase) -> None:
        self._family = family
        self._transport: AsyncTransport = family.transport
        self._base = family.path

    def list(self, dataset_id: int, *, source: str = "upload") -> AsyncPages[records.Example]:
        """List the examples of a dataset: those of `upload`, of `feedback`, or `all`."""
        path = f"{self._base}/datasets/{dataset_id}/examples"
        return self._pages(Request("GET", path, query={"source": source}))

    def list_label(self, dataset_id: int, label_id: int) -> AsyncPages[records.Example]:
        """List the examples of a label."""
        return self._pages(Request("GET", f"{self._base}/examples/{dataset_id}/label/{label_id}"))

    def browse(
        self,
        dataset_id: int,
        *,
        label_id: int | None = None,
        source: str | None = None,
        suspects_of: str | None = None,
        contains: str | None = None,
    ) -> AsyncPages[records.BrowsedExample]:
        """Look through the examples of a dataset; does not count to the monthly limit of lists.

        Example:
            async for example in data.browse(suspects_of=model.model_id):
                print(example.name, example.label.name, example.suggestion)

        Args:
            dataset_id: of the dataset.
            label_id: only the examples of this label.
            source: `upload`, `feedback` or `all`.
            suspects_of: id of a model: only examples whose labels its training doubts.
            contains: only texts, or file names, with this in them.
        """
        query: dict[str, Any] = {"labelId": label_id, "source": source}
        query |= {"suspectsOf": suspects_of, "contains": contains}
        request = Request("GET", f"{self._base}/datasets/{dataset_id}/browse", query=query)
        return AsyncPages(
            self._transport, request, lambda item: decode(item, records.BrowsedExample)
        )

    async def change(
        self,
        dataset_id: int,
        example_id: int,
        *,
        label: str | None = None,
        label_id: int | None = None,
        document: str | None = None,
        boxes: builtins.list[dict[str, Any]] | None = None,
    ) -> records.Correction:
        """Give an example another label, a text another wording, or a picture other boxes.

        Args:
            dataset_id: of the dataset.
            example_id: of the example; of boxes, any box of the picture.
            label: name of the label that it moves to.
            label_id: the label's id in place of its name.
            document: another wording.
            boxes: all boxes of the picture from then on, each with `x`, `y`, `width`, `height` and
                `label` or `labelId`; a box that is there keeps its id.
        """
        path = f"{self._base}/datasets/{dataset_id}/examples/{example_id}"
        fields = {"label": label, "labelId": label_id, "document": document, "boxes": boxes}
        request = Request("PUT", path, fields=fields)
        return await self._transport.record(request, records.Correction)

    async def remove(self, dataset_id: int, example_id: int) -> records.Correction:
        """Take an example out of a dataset."""
        path = f"{self._base}/datasets/{dataset_id}/examples/{example_id}"
        return await self._transport.record(Request("DELETE", path), records.Correction)

    def _pages(self, request: Request) -> AsyncPages[records.Example]:
        return AsyncPages(self._transport, request, lambda item: decode(item, records.Example))

    async def add(
        self,
        dataset_id: int,
        sample: str | File,
        *,
        label: str | None = None,
        label_id: int | None = None,
        name: str | None = None,
    ) -> records.Example:
        """Add one text, or one picture, to a label that is named or told by its id."""
        path = f"{self._base}/datasets/{dataset_id}/examples"
        fields = {"label": label, "labelId": label_id}
        return await self._family.add_sample(path, sample, fields, name)


class AsyncFeedback:
    """`/v2/:family/feedback`: what a model got wrong, with the right label."""

    def __init__(self, family: AsyncFamilyBase) -> None:
        self._family = family

    async def add(
        self, model_id: str, sample: str | File, expected_label: str, *, name: str | None = None
    ) -> records.Example:
        """Add a text, or a picture, to the dataset of a model, under its right label."""
        fields = {"modelId": model_id, "expectedLabel": expected_label}
        return await self._family.add_sample(f"{self._family.path}/feedback", sample, fields, name)
