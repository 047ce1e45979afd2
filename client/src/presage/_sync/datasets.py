# Written by client/tools/write_sync.py from presage._async: do not edit.
"""Datasets and their examples: uploaded, added to, listed, deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presage import records
from presage._sync.models import Model
from presage._sync.pages import Pages
from presage._sync.transport import Transport
from presage._sync.waiting import wait
from presage._files import File
from presage._records import decode
from presage._requests import Request
from presage.errors import JobFailedError

if TYPE_CHECKING:
    from presage._sync.families import Family


class Dataset(records.Dataset):
    """A dataset: its record, and what can be done with it."""

    @property
    def family(self) -> Family:
        """The family it belongs to."""
        found: Family = self.__dict__["family_of"]
        return found

    @property
    def labels(self) -> list[records.Label]:
        """Its labels, in order of first appearance."""
        return self.label_summary.labels

    def refresh(self) -> Dataset:
        """Fetch its present state."""
        return self.family.datasets.get(self.id)

    def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> Dataset:
        """Wait until what was uploaded has been read.

        Raises:
            JobFailedError: it could not be.
            WaitTimeoutError: it goes on after `timeout` seconds.
        """
        read = wait(
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

    def add(self, file: File, *, wait: bool = True) -> Dataset:
        """Add the examples of a file."""
        return self.family.datasets.add(self.id, file, wait=wait)

    def train(self, name: str, **params: Any) -> Model:
        """Queue a training; arguments as of `models.train`."""
        return self.family.models.train(self.id, name, **params)

    def models(self) -> Pages[records.Model]:
        """List its models."""
        return self.family.models.list(self.id)

    def examples(self, *, source: str = "upload") -> Pages[records.Example]:
        """List its examples; counts to the monthly limit of such calls, a page a call."""
        return self.family.examples.list(self.id, source=source)

    def receipts(self) -> Pages[records.Receipt]:
        """List what became of the rows of each of its uploads."""
        return self.family.datasets.receipts(self.id)

    def delete(self) -> records.Deletion:
        """Delete it; its models stay."""
        return self.family.datasets.delete(self.id)


class Datasets:
    """`/v2/:family/datasets`."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._transport: Transport = family.transport
        self._base = f"{family.path}/datasets"

    def upload(
        self,
        file: File,
        *,
        type: str | None = None,
        name: str | None = None,
        language: str | None = None,
        wait: bool = True,
        timeout: float | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Upload a file as a dataset.

        Args:
            file: path, address, bytes or open file; of pictures also a folder with a folder for
                each label.
            type: what it holds, such as `text-intent` or `image`.
            name: of the dataset; the file's where it is missing.
            language: of the texts.
            wait: whether to wait until it is read.
            timeout: longest wait, in seconds.
            progress: whether to show progress bars; None shows them on a terminal.

        Raises:
            JobFailedError: it could not be read.
        """
        sent = {"type": type, "name": name, "language": language}
        with self._family.uploads.attached(file, "data", "path", progress) as part:
            fields = {**sent, **part.fields}
            request = Request("POST", f"{self._base}/upload", fields=fields, files=part.files)
            dataset = self._bound(self._transport.record(request, Dataset))
        return dataset.wait(timeout=timeout, progress=progress) if wait else dataset

    def add(
        self, dataset_id: int, file: File, *, wait: bool = True, timeout: float | None = None
    ) -> Dataset:
        """Add the examples of a file to a dataset."""
        with self._family.uploads.attached(file, "data", "path") as part:
            path = f"{self._base}/{dataset_id}/upload"
            request = Request("PUT", path, fields=part.fields, files=part.files)
            dataset = self._bound(self._transport.record(request, Dataset))
        return dataset.wait(timeout=timeout) if wait else dataset

    def _bound(self, dataset: Dataset) -> Dataset:
        dataset.__dict__["family_of"] = self._family
        return dataset

    def create(
        self,
        name: str,
        *,
        labels: list[str] | None = None,
        type: str | None = None,
        language: str | None = None,
    ) -> Dataset:
        """Create a dataset without examples, with labels that have none yet."""
        fields = {"name": name, "type": type, "language": language}
        fields["labels"] = ",".join(labels) if labels else None
        request = Request("POST", self._base, fields=fields)
        return self._bound(self._transport.record(request, Dataset))

    def get(self, dataset_id: int) -> Dataset:
        """Fetch a dataset with its labels."""
        request = Request("GET", f"{self._base}/{dataset_id}")
        return self._bound(self._transport.record(request, Dataset))

    def list(self, *, is_global: bool = False) -> Pages[Dataset]:
        """List datasets by id: the account's, or those that ship with the service."""
        request = Request("GET", self._base, query={"global": is_global or None})
        return Pages(
            self._transport, request, lambda item: self._bound(decode(item, Dataset))
        )

    def receipts(self, dataset_id: int) -> Pages[records.Receipt]:
        """List what became of the rows of each upload of a dataset."""
        request = Request("GET", f"{self._base}/{dataset_id}/receipts")
        return Pages(self._transport, request, lambda item: decode(item, records.Receipt))

    def delete(self, dataset_id: int) -> records.Deletion:
        """Delete a dataset; its models stay. The record returned tells how far that is."""
        request = Request("DELETE", f"{self._base}/{dataset_id}")
        return self._transport.record(request, records.Deletion)


class Examples:
    """`/v2/:family/examples`: lists, which count to a monthly limit, and single additions."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._transport: Transport = family.transport
        self._base = family.path

    def list(self, dataset_id: int, *, source: str = "upload") -> Pages[records.Example]:
        """List the examples of a dataset: those of `upload`, of `feedback`, or `all`."""
        path = f"{self._base}/datasets/{dataset_id}/examples"
        return self._pages(Request("GET", path, query={"source": source}))

    def list_label(self, dataset_id: int, label_id: int) -> Pages[records.Example]:
        """List the examples of a label."""
        return self._pages(Request("GET", f"{self._base}/examples/{dataset_id}/label/{label_id}"))

    def _pages(self, request: Request) -> Pages[records.Example]:
        return Pages(self._transport, request, lambda item: decode(item, records.Example))

    def add(
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
        return self._family.add_sample(path, sample, fields, name)


class Feedback:
    """`/v2/:family/feedback`: what a model got wrong, with the right label."""

    def __init__(self, family: Family) -> None:
        self._family = family

    def add(
        self, model_id: str, sample: str | File, expected_label: str, *, name: str | None = None
    ) -> records.Example:
        """Add a text, or a picture, to the dataset of a model, under its right label."""
        fields = {"modelId": model_id, "expectedLabel": expected_label}
        return self._family.add_sample(f"{self._family.path}/feedback", sample, fields, name)
