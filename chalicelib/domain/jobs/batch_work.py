"""What batches of a family do in their own way: read their input, answer lines of a part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, Protocol

from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.domain.jobs.batch import AnsweredLine, Batch, BatchLine
from chalicelib.domain.models.model import ServedModel


class Check(Protocol):
    """Called now and then; raises to stop."""

    def __call__(self) -> None:
        """Return when the work may go on."""


class BatchWork(Protocol):
    """The batches of a family."""

    max_bytes: int
    """Most bytes of a file behind a `path`."""

    def check_model(self, model: ServedModel, kind: str) -> None:
        """Refuse a model that cannot answer what is asked, as the single call does."""

    def check_sent(self, content: bytes) -> None:
        """Refuse a file sent in a call that is empty, too large, or surely of another kind.

        Raises:
            InvalidUpload: it is empty.
            TooLarge: it is over the limit of a call.
            UnsupportedType: it is something else.
        """

    def fits_call(self, kind: str, content: bytes) -> bool:
        """Return whether the parts of a file sent in a call can be written within it.

        Raises:
            InvalidUpload: it cannot be read.
        """

    def read(self, batch: Batch, file: BinaryIO, check: Check) -> Iterator[BatchLine]:
        """Read the lines of a file; what is wrong with one of them is said in its place.

        Raises:
            InvalidUpload: it cannot be read, or holds no line, or too many.
        """

    def of_dataset(self, batch: Batch, dataset: Dataset) -> Iterator[BatchLine]:
        """Read what was uploaded to a dataset in the order of lists; its ids come back."""

    def answer(
        self, batch: Batch, number: int, model: ServedModel, lines: Sequence[BatchLine]
    ) -> Iterator[AnsweredLine]:
        """Answer lines of a part, in their order.

        Args:
            batch: whose.
            number: of the part, from 0.
            model: of the version that answers.
            lines: those that can be asked; at least one.

        Raises:
            NotFound, Conflict: no line can be answered any more.
            StorageUnavailable: not now.
        """
