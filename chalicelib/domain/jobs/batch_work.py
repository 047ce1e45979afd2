"""Interfaces of batches: reading the input, answering lines, and writing results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, Protocol

from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.domain.jobs.batch import AnsweredLine, Batch, BatchLine
from chalicelib.domain.jobs.batch_table import InputTable
from chalicelib.domain.models.model import ServedModel


class Check(Protocol):
    """A function that long work calls regularly; it raises an error to stop the work."""

    def __call__(self) -> None:
        """Raise an error if the work must stop."""


class BatchWork(Protocol):
    """Reads and answers the batches of one family."""

    max_bytes: int
    """Most bytes of a file behind a `path`."""

    def check_model(self, model: ServedModel, kind: str) -> None:
        """Refuse a model that cannot answer this kind of batch, as a single prediction does."""

    def check_sent(self, content: bytes, encoding: str) -> None:
        """Refuse a file sent in a call that is empty, too large, or clearly of another kind.

        Args:
            content: the file.
            encoding: the encoding that the caller named for texts; empty for none.

        Raises:
            InvalidUpload: the file is empty.
            TooLarge: the file is over the limit of a call.
            UnsupportedType: the file is of another kind.
        """

    def fits_call(self, kind: str, content: bytes) -> bool:
        """Return whether a sent file can be split into parts within the call.

        Raises:
            InvalidUpload: the file cannot be read.
        """

    def read(
        self, batch: Batch, file: BinaryIO, check: Check, table: InputTable
    ) -> Iterator[BatchLine]:
        """Yield the lines of a file; an invalid line contains its error.

        Args:
            batch: the batch.
            file: its input.
            check: called regularly; raises to stop.
            table: receives the columns of the input, and warnings about them.

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


class Ranker(Protocol):
    """Selects the lines of a ranking."""

    def content(self, lines: Iterable[AnsweredLine]) -> bytes:
        """Return the stored form of a part."""

    def chosen(self, batch: Batch, check: Check) -> list[AnsweredLine]:
        """Select the lines that improve the model most if they are labelled, the best first."""


class Tables(Protocol):
    """Writes results that are tables."""

    def with_cells(
        self, batch: Batch, table: InputTable, lines: Iterable[BatchLine]
    ) -> Iterator[BatchLine]:
        """Yield each line with the cells that precede its answer in the result."""

    def put_columns(self, batch: Batch, table: InputTable) -> None:
        """Store the columns of the input."""

    def content(self, batch: Batch, lines: Iterable[AnsweredLine]) -> bytes:
        """Return the stored form of a part."""

    def chunks(self, batch: Batch, check: Check) -> Iterator[bytes]:
        """Yield the result from all finished parts."""
