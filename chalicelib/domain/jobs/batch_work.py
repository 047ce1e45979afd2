"""Interface of batches: reading the input and answering lines, which differ by family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, Protocol

from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.domain.jobs.batch import AnsweredLine, Batch, BatchLine
from chalicelib.domain.models.model import ServedModel


class Check(Protocol):
    """A function that is called now and then and raises to stop the work."""

    def __call__(self) -> None:
        """Raise an error if the work must stop."""


class BatchWork(Protocol):
    """Reads and answers the batches of one family."""

    max_bytes: int
    """Most bytes of a file behind a `path`."""

    def check_model(self, model: ServedModel, kind: str) -> None:
        """Refuse a model that cannot answer this kind of batch, as a single call does."""

    def check_sent(self, content: bytes) -> None:
        """Refuse a file sent in a call that is empty, too large, or clearly of another kind.

        Raises:
            InvalidUpload: the file is empty.
            TooLarge: the file is over the limit of a call.
            UnsupportedType: the file is of another kind.
        """

    def fits_call(self, kind: str, content: bytes) -> bool:
        """Return whether the parts of a sent file can be written within the call.

        Raises:
            InvalidUpload: the file cannot be read.
        """

    def read(self, batch: Batch, file: BinaryIO, check: Check) -> Iterator[BatchLine]:
        """Yield the lines of a file; an invalid line contains its error.

        Raises:
            InvalidUpload: the file cannot be read, or has no line, or too many.
        """

    def of_dataset(self, batch: Batch, dataset: Dataset) -> Iterator[BatchLine]:
        """Yield the uploaded examples of a dataset in list order, with their ids."""

    def answer(
        self, batch: Batch, number: int, model: ServedModel, lines: Sequence[BatchLine]
    ) -> Iterator[AnsweredLine]:
        """Yield the answers to the lines of a part, in the same order.

        Args:
            batch: the batch.
            number: number of the part, from 0.
            model: the model version that answers.
            lines: at least one valid line.

        Raises:
            NotFound, Conflict: no line can be answered any more.
            StorageUnavailable: no line can be answered now.
        """
