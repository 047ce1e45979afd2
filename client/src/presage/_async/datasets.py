"""Datasets, their examples, and feedback."""

from __future__ import annotations

import builtins
import json
from collections.abc import Mapping, Sequence
from typing import Any, Generic

from presage import records
from presage._async.exports import AsyncExport, AsyncExports
from presage._async.family import AsyncFamilyBase
from presage._async.models import AsyncModel, AsyncModels
from presage._async.pages import AsyncPages, pages_of
from presage._async.transport import AsyncTransport
from presage._async.waiting import wait
from presage._records import decode, request_id
from presage._requests import Request, members
from presage._sources import File, ReadingOptions, TrainOptions, Unpack, api_fields
from presage.errors import JobFailedError, PresageError
from presage.results import ResultT_co


class AsyncDataset(records.Dataset, Generic[ResultT_co]):
    """A dataset record with methods, such as `train` and `export`."""

    @property
    def family(self) -> AsyncFamilyBase[ResultT_co]:
        """The family, `language` or `vision`, that the dataset belongs to."""
        found: AsyncFamilyBase[ResultT_co] = self.__dict__["family_of"]
        return found

    @property
    def labels(self) -> list[records.Label]:
        """The labels of the dataset, in order of first appearance."""
        return self.label_summary.labels

    async def refresh(self) -> AsyncDataset[ResultT_co]:
        """Fetch the current state of the dataset."""
        return await AsyncDatasets(self.family).get(self.id)

    async def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> AsyncDataset[ResultT_co]:
        """Wait until the upload has been processed.

        Raises:
            JobFailedError: the upload failed.
            WaitTimeoutError: the upload is still running after `timeout` seconds.
        """
        read = await wait(
            self.refresh,
            lambda seen: seen.status_msg != "UPLOADING",
            title=f"Reading {self.name}",
            # Datasets have no progress member, so the bar only shows that the work is running.
            share=lambda _: None,
            timeout=timeout,
            progress=progress,
        )
        if read.status_msg.startswith("FAILED"):
            raise JobFailedError(
                # The status of a failure is "FAILED: " with the cause, or only "FAILED".
                read.status_msg.partition(": ")[2] or read.status_msg,
                code="upload_failed",
                request_id=request_id(self),
            )
        return read

    async def add(
        self,
        file: File,
        *,
        wait: bool = True,
        timeout: float | None = None,
        progress: bool | None = None,
        **reading: Unpack[ReadingOptions],
    ) -> AsyncDataset[ResultT_co]:
        """Add the examples of a file to the dataset; arguments as in `datasets.upload`."""
        return await AsyncDatasets(self.family).add(
            self.id, file, wait=wait, timeout=timeout, progress=progress, **reading
        )

    async def train(self, name: str, **options: Unpack[TrainOptions]) -> AsyncModel[ResultT_co]:
        """Queue a training on the dataset; arguments as in `models.train`."""
        return await AsyncModels(self.family).train(self.id, name, **options)

    def models(self) -> AsyncPages[AsyncModel[ResultT_co]]:
        """List the models trained on the dataset."""
        return AsyncModels(self.family).list(self.id)

    def examples(self, *, source: str = "upload") -> AsyncPages[records.Example]:
        """List the examples. Each page counts towards a monthly limit, unlike pages of `browse`."""
        return AsyncExamples(self.family).list(self.id, source=source)

    def browse(
        self,
        *,
        label_id: int | None = None,
        source: str | None = None,
        suspects_of: str | None = None,
        contains: str | None = None,
    ) -> AsyncPages[records.BrowsedExample]:
        """Search the examples; arguments as in `examples.browse`."""
        return AsyncExamples(self.family).browse(
            self.id, label_id=label_id, source=source, suspects_of=suspects_of, contains=contains
        )

    async def export(self, format: str, *, source: str | None = None) -> AsyncExport:
        """Export the examples of the dataset to a file; arguments as in `exports.create`."""
        return await AsyncExports(self.family).create(self.id, format, source=source)

    def receipts(self) -> AsyncPages[records.Receipt]:
        """List the receipts (results) of all uploads to the dataset."""
        return AsyncDatasets(self.family).receipts(self.id)

    async def fix(
        self,
        *corrections: Mapping[str, object],
        from_report_of: str | None = None,
        minimum_confidence: float | None = None,
    ) -> records.Correction:
        """Relabel or remove several examples at once; arguments as in `datasets.fix`."""
        return await AsyncDatasets(self.family).fix(
            self.id,
            *corrections,
            from_report_of=from_report_of,
            minimum_confidence=minimum_confidence,
        )

    def corrections(self) -> AsyncPages[records.Correction]:
        """List the corrections of the examples, newest first."""
        return AsyncDatasets(self.family).corrections(self.id)

    async def delete(self) -> records.Deletion:
        """Delete the dataset in the background. Its models are not deleted."""
        return await AsyncDatasets(self.family).delete(self.id)


class AsyncDatasets(Generic[ResultT_co]):
    """The calls below `/v2/:family/datasets`."""

    def __init__(self, family: AsyncFamilyBase[ResultT_co]) -> None:
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
        keep_failed: bool = True,
        timeout: float | None = None,
        progress: bool | None = None,
        **reading: Unpack[ReadingOptions],
    ) -> AsyncDataset[ResultT_co]:
        """Upload a file as a dataset.

        Example:
            data = await client.language.datasets.upload("tickets.csv", type="text-intent")

        Args:
            file: path, URL, bytes or open file; for images also a folder with one subfolder per
                label.
            type: type of the dataset, such as `text-intent` or `image`.
            name: name of the dataset; by default the file's name.
            language: language of the texts.
            wait: whether to wait until the upload has been processed.
            keep_failed: whether the dataset remains if the upload fails; False requires `wait`.
            timeout: maximum wait, in seconds.
            progress: whether to show progress bars; by default only on a terminal.
            reading: options of the API for reading the file, such as `label_column="Kind"`.

        Raises:
            JobFailedError: the upload failed.
        """
        # Refused before anything is sent, because the option could have no effect.
        if not (wait or keep_failed):
            raise ValueError("keep_failed=False needs wait=True: only then is a failure seen.")
        sent = {
            "type": type,
            "name": name,
            "language": language,
            **api_fields(reading, ReadingOptions),
        }
        async with self._family.uploads.attached(file, "data", "path", progress) as part:
            fields = {**sent, **part.fields}
            request = Request("POST", f"{self._base}/upload", fields=fields, files=part.files)
            dataset = self._bound(await self._transport.record(request, AsyncDataset))
        if not keep_failed:
            return await self._wait_or_delete(dataset, timeout, progress)
        return await dataset.wait(timeout=timeout, progress=progress) if wait else dataset

    async def _wait_or_delete(
        self, dataset: AsyncDataset[ResultT_co], timeout: float | None, progress: bool | None
    ) -> AsyncDataset[ResultT_co]:
        try:
            return await dataset.wait(timeout=timeout, progress=progress)
        except JobFailedError as failed:
            try:
                await dataset.delete()
            except PresageError as error:
                # The caller must learn both why the upload failed and what remains.
                remains = f"The dataset {dataset.id} could not be deleted: {error}"
                failed.args = (f"{failed} {remains}",)
            raise

    async def check(
        self,
        file: File,
        *,
        type: str | None = None,
        language: str | None = None,
        preview: bool | None = None,
        progress: bool | None = None,
        **reading: Unpack[ReadingOptions],
    ) -> records.Validation:
        """Validate a file without storing anything; arguments as in `upload`.

        With `preview`, the result also has the first 20 rows, the sheets and the columns. To send a
        large file only once, call `uploads.send`; pass the returned path to `check` and `upload`.
        """
        sent: dict[str, object] = {"type": type, "language": language, "preview": preview}
        sent |= api_fields(reading, ReadingOptions)
        async with self._family.uploads.attached(file, "data", "path", progress) as part:
            fields = {**sent, **part.fields}
            request = Request(
                "POST", f"{self._base}/validate", fields=fields, files=part.files, is_read=True
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
        **reading: Unpack[ReadingOptions],
    ) -> AsyncDataset[ResultT_co]:
        """Add the examples of a file to a dataset; arguments as in `upload`."""
        sent = api_fields(reading, ReadingOptions)
        async with self._family.uploads.attached(file, "data", "path", progress) as part:
            path = f"{self._base}/{dataset_id}/upload"
            fields = {**sent, **part.fields}
            request = Request("PUT", path, fields=fields, files=part.files)
            dataset = self._bound(await self._transport.record(request, AsyncDataset))
        return await dataset.wait(timeout=timeout, progress=progress) if wait else dataset

    def _bound(self, dataset: AsyncDataset[Any]) -> AsyncDataset[ResultT_co]:
        dataset.__dict__["family_of"] = self._family
        return dataset

    async def create(
        self,
        name: str,
        *,
        labels: list[str] | None = None,
        type: str | None = None,
        language: str | None = None,
        label_descriptions: Mapping[str, str] | None = None,
    ) -> AsyncDataset[ResultT_co]:
        """Create a dataset with these labels and label descriptions, but without examples."""
        fields = {"name": name, "type": type, "language": language}
        fields["labelDescriptions"] = _described(label_descriptions)
        # The API takes labels as one text, separated by commas.
        fields["labels"] = ",".join(labels) if labels else None
        request = Request("POST", self._base, fields=fields)
        return self._bound(await self._transport.record(request, AsyncDataset))

    async def get(self, dataset_id: int) -> AsyncDataset[ResultT_co]:
        """Fetch a dataset with its labels."""
        request = Request("GET", f"{self._base}/{dataset_id}")
        return self._bound(await self._transport.record(request, AsyncDataset))

    def list(
        self, *, is_global: bool = False, name: str | None = None, status: str | None = None
    ) -> AsyncPages[AsyncDataset[ResultT_co]]:
        """List the datasets of the account, or the global datasets, in order of id.

        Args:
            is_global: whether to list the global datasets, which ship with the service.
            name: only datasets whose names contain this text.
            status: only datasets with this status: `UPLOADING`, `SUCCEEDED`, `FAILED` or
                `DELETION_PENDING`.
        """
        query = {"global": is_global or None, "name": name, "status": status}
        request = Request("GET", self._base, query=query)
        return AsyncPages(
            self._transport, request, lambda item: self._bound(decode(item, AsyncDataset))
        )

    def receipts(self, dataset_id: int) -> AsyncPages[records.Receipt]:
        """List the receipts (results) of all uploads to a dataset."""
        request = Request("GET", f"{self._base}/{dataset_id}/receipts")
        return pages_of(self._transport, request, records.Receipt)

    def labels(self, dataset_id: int) -> AsyncPages[records.LabelDescription]:
        """List the labels of a dataset of texts with their descriptions."""
        request = Request("GET", f"{self._base}/{dataset_id}/labels")
        return pages_of(self._transport, request, records.LabelDescription)

    async def describe_labels(
        self, dataset_id: int, descriptions: Mapping[str, str]
    ) -> AsyncDataset[ResultT_co]:
        """Replace label descriptions, given by label name. Labels that do not exist are added."""
        fields = {"labelDescriptions": _described(descriptions)}
        request = Request("PUT", f"{self._base}/{dataset_id}", fields=fields)
        return self._bound(await self._transport.record(request, AsyncDataset))

    async def rename(self, dataset_id: int, name: str) -> AsyncDataset[ResultT_co]:
        """Rename a dataset."""
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
        """Rename a label, or merge it into another label."""
        path = f"{self._base}/{dataset_id}/labels/{label_id}"
        request = Request("PUT", path, fields={"name": name, "mergeInto": merge_into})
        return await self._transport.record(request, records.ChangedLabel)

    async def remove_label(self, dataset_id: int, label_id: int) -> records.Correction:
        """Remove a label and its examples."""
        request = Request("DELETE", f"{self._base}/{dataset_id}/labels/{label_id}")
        return await self._transport.record(request, records.Correction)

    async def fix(
        self,
        dataset_id: int,
        *corrections: Mapping[str, object],
        from_report_of: str | None = None,
        minimum_confidence: float | None = None,
    ) -> records.Correction:
        """Relabel or remove up to 10,000 examples, or apply a model's suggestions.

        If one correction is invalid, no correction is applied.

        Example:
            first = await data.browse(contains="parcel").first()
            await data.fix({"exampleId": first.id, "label": data.labels[1].name})

        Args:
            dataset_id: id of the dataset.
            corrections: objects with `exampleId` and one of `label`, `labelId` and `remove`.
            from_report_of: id of a model. Its suggestions are applied, instead of corrections.
            minimum_confidence: lowest confidence of the suggestions to apply; default 0.5.
        """
        fields = {
            "corrections": [dict(item) for item in corrections] or None,
            "fromReportOf": from_report_of,
            "minimumConfidence": minimum_confidence,
        }
        request = Request("POST", f"{self._base}/{dataset_id}/corrections", fields=fields)
        return await self._transport.record(request, records.Correction)

    def corrections(self, dataset_id: int) -> AsyncPages[records.Correction]:
        """List the corrections of the examples of a dataset, newest first."""
        request = Request("GET", f"{self._base}/{dataset_id}/corrections")
        return pages_of(self._transport, request, records.Correction)

    async def delete(self, dataset_id: int) -> records.Deletion:
        """Delete a dataset in the background; its models are not deleted."""
        request = Request("DELETE", f"{self._base}/{dataset_id}")
        return await self._transport.record(request, records.Deletion)

    async def delete_failed(self) -> builtins.list[records.Deletion]:
        """Delete the datasets without examples whose first upload failed."""
        request = Request("DELETE", self._base, query={"status": "FAILED"})
        found: builtins.list[records.Deletion] = []
        # One call deletes at most a page of datasets, so it repeats until none is left.
        while page := members(await self._transport.send(request))["data"]:
            found += [decode(item, records.Deletion) for item in page]
        return found


class AsyncExamples:
    """The calls for examples. `list` and `list_label` have a monthly limit; `browse` has none."""

    def __init__(self, family: AsyncFamilyBase) -> None:
        self._family = family
        self._transport: AsyncTransport = family.transport
        self._base = family.path

    def list(self, dataset_id: int, *, source: str = "upload") -> AsyncPages[records.Example]:
        """List the examples of a dataset. `source` is `upload`, `feedback` or `all`."""
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
        """Search the examples of a dataset. This does not count towards the monthly limit of lists.

        Example:
            async for example in data.browse(suspects_of=model.model_id):
                print(example.name, example.label.name, example.suggestion)

        Args:
            dataset_id: id of the dataset.
            label_id: only examples of this label.
            source: `upload`, `feedback` or `all`.
            suspects_of: id of a model. Only examples whose labels this model's training flagged.
            contains: only examples whose text or file name contains this text.
        """
        query: dict[str, Any] = {"labelId": label_id, "source": source}
        query |= {"suspectsOf": suspects_of, "contains": contains}
        request = Request("GET", f"{self._base}/datasets/{dataset_id}/browse", query=query)
        return pages_of(self._transport, request, records.BrowsedExample)

    async def change(
        self,
        dataset_id: int,
        example_id: int,
        *,
        label: str | None = None,
        label_id: int | None = None,
        document: str | None = None,
        boxes: Sequence[Mapping[str, object]] | None = None,
    ) -> records.Correction:
        """Change the label or text of an example, or the boxes of an image.

        Args:
            dataset_id: id of the dataset.
            example_id: id of the example; to change boxes, the id of any box of the image.
            label: name of the new label.
            label_id: id of the new label, instead of its name.
            document: the new text of the example.
            boxes: all boxes of the image, each with `x`, `y`, `width`, `height` and `label` or
                `labelId`; unchanged boxes keep their ids.
        """
        path = f"{self._base}/datasets/{dataset_id}/examples/{example_id}"
        fields: dict[str, object] = {"label": label, "labelId": label_id, "document": document}
        fields["boxes"] = None if boxes is None else [dict(box) for box in boxes]
        request = Request("PUT", path, fields=fields)
        return await self._transport.record(request, records.Correction)

    async def remove(self, dataset_id: int, example_id: int) -> records.Correction:
        """Remove an example from a dataset."""
        path = f"{self._base}/datasets/{dataset_id}/examples/{example_id}"
        return await self._transport.record(Request("DELETE", path), records.Correction)

    def _pages(self, request: Request) -> AsyncPages[records.Example]:
        return pages_of(self._transport, request, records.Example)

    async def add(
        self,
        dataset_id: int,
        sample: File,
        *,
        label: str | None = None,
        label_id: int | None = None,
        name: str | None = None,
    ) -> records.Example:
        """Add one text or image to a dataset, with a label given by name or id."""
        path = f"{self._base}/datasets/{dataset_id}/examples"
        fields = {"label": label, "labelId": label_id}
        return await self._family.add_sample(path, sample, fields, name)


class AsyncFeedback:
    """The calls below `/v2/:family/feedback`, which add samples with their correct labels."""

    def __init__(self, family: AsyncFamilyBase) -> None:
        self._family = family

    async def add(
        self, model_id: str, sample: File, expected_label: str, *, name: str | None = None
    ) -> records.Example:
        """Add a text or image, with its correct label, to the dataset of a model."""
        fields = {"modelId": model_id, "expectedLabel": expected_label}
        return await self._family.add_sample(f"{self._family.path}/feedback", sample, fields, name)


def _described(descriptions: Mapping[str, str] | None) -> str | None:
    """Return label descriptions as the JSON text that the API expects; None if there are none."""
    listed = [{"name": name, "description": text} for name, text in (descriptions or {}).items()]
    return json.dumps(listed) if listed else None
