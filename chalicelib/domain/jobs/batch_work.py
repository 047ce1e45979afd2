"""Interfaces of batches: they read the input, answer its lines, and write the results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, Protocol

from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.domain.jobs.batch import AnsweredLine, Batch, BatchLine
from chalicelib.domain.jobs.batch_table import InputTable
from chalicelib.domain.models.model import ServedModel


class Check(Protocol):
    """A function that long work calls often. It raises an error if the work must stop."""

    def __call__(self) -> None:
        """Raise an error if the work must stop."""


class BatchWork(Protocol):
    """Reads the input of batches of one family (language or vision), and answers their lines."""

    max_bytes: int
    """Maximum size in bytes of a file that a request gives by `path`."""

    def check_model(self, model: ServedModel, kind: str) -> None:
        """Raise the error of a prediction call if a model cannot answer this kind of batch."""

    def check_sent(self, content: bytes, encoding: str) -> None:
        """Raise an error if a sent file is empty, too large, or clearly of an unreadable type.

        `encoding` is the text encoding in the request; empty to detect it.

        Raises:
            InvalidUpload: the file is empty.
            TooLarge: the file is over the limit of a call.
            UnsupportedType: the batch cannot read files of this type.
        """

    def fits_call(self, kind: str, content: bytes) -> bool:
        """Return whether a file is small enough to be split into parts during the call itself.

        Raises:
            InvalidUpload: the file cannot be read.
        """

    def read(
        self, batch: Batch, file: BinaryIO, check: Check, table: InputTable
    ) -> Iterator[BatchLine]:
        """Yield the lines of a file; an invalid line contains its error.

        `check` is called regularly, and may raise an error to stop. `table` receives the columns of
        the input, and warnings about them.

        Raises:
            InvalidUpload: the file cannot be read, or has no line or too many lines.
        """

    def of_dataset(self, batch: Batch, dataset: Dataset) -> Iterator[BatchLine]:
        """Yield a line with an example id for each uploaded text or image of a dataset."""

    def answer(
        self, batch: Batch, number: int, model: ServedModel, lines: Sequence[BatchLine]
    ) -> Iterator[AnsweredLine]:
        """Yield the answers to the lines of a part, in the same order.

        `number` is the number of the part, from 0. At least one of the lines is valid.

        Raises:
            NotFound, Conflict: no line of the batch can ever be answered.
            StorageUnavailable: no line can be answered at present.
        """


class Ranker(Protocol):
    """Selects the lines that a ranking returns."""

    def content(self, lines: Iterable[AnsweredLine]) -> bytes:
        """Return the bytes to store for the answers of one part."""

    def select_lines(self, batch: Batch, check: Check) -> list[AnsweredLine]:
        """Return the lines whose labels would improve the model most, the best first."""


class Tables(Protocol):
    """Writes batch results that are tables."""

    def with_cells(
        self, batch: Batch, table: InputTable, lines: Iterable[BatchLine]
    ) -> Iterator[BatchLine]:
        """Add to each line the input cells that precede the answer in the result."""

    def put_columns(self, batch: Batch, table: InputTable) -> None:
        """Store the columns of the input."""

    def content(self, batch: Batch, lines: Iterable[AnsweredLine]) -> bytes:
        """Return the bytes to store for the answers of one part."""

    def chunks(self, batch: Batch, check: Check) -> Iterator[bytes]:
        """Yield the bytes of the result, made from all answered parts."""
