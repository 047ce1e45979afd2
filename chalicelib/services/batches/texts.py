"""Reads and answers batches of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from chalicelib.domain.datasets.dataset import LANGUAGE, UPLOAD, Dataset
from chalicelib.domain.jobs.batch import (
    KIND_TYPES,
    MAX_BATCH_BYTES,
    RANK,
    AnsweredLine,
    Batch,
    BatchLine,
)
from chalicelib.domain.jobs.batch_table import InputTable
from chalicelib.domain.jobs.batch_work import Check
from chalicelib.domain.jobs.ranking import check_ranked
from chalicelib.domain.models.model import ServedModel
from chalicelib.domain.models.prediction import PredictionOptions, TextPredictor
from chalicelib.formats.texts.batch_file import asked_line, check_sent, read_lines

if TYPE_CHECKING:
    from chalicelib.stores.examples.examples import ExampleStore


class TextWork:
    """Reads the input of batches of texts, and predicts the labels of the texts."""

    max_bytes = MAX_BATCH_BYTES
    """Maximum size in bytes of an input file that a call gives by `path`."""

    def __init__(self, examples: ExampleStore, predictions: TextPredictor) -> None:
        self._examples = examples
        self._predictions = predictions

    def check_model(self, model: ServedModel, kind: str) -> None:
        """Raise an error if the model cannot answer batches of the given kind."""
        if kind == RANK:
            check_ranked(LANGUAGE, model)
        self._predictions.check(model, model.type if kind == RANK else KIND_TYPES[kind][0])

    def check_sent(self, content: bytes, encoding: str) -> None:
        """Raise an error if a file that was sent in the call is not a text file."""
        check_sent(content, encoding)

    def fits_call(self, kind: str, content: bytes) -> bool:
        """Return True, because the call itself can divide every text file into parts."""
        del kind, content
        return True

    def read(
        self, batch: Batch, file: BinaryIO, check: Check, table: InputTable
    ) -> Iterator[BatchLine]:
        """Read the lines of a file."""
        options = batch.reading_options
        return read_lines(file, options, check, table, keeps_cells=batch.reads_cells)

    def of_dataset(self, batch: Batch, dataset: Dataset) -> Iterator[BatchLine]:
        """Yield the uploaded texts of a dataset as lines."""
        del batch
        found = self._examples.read_all(dataset.dataset_id, UPLOAD, dataset.counts)
        for row, example in enumerate(found, 1):
            yield asked_line(row, str(example.example_id), example.name)

    def answer(
        self, batch: Batch, number: int, model: ServedModel, lines: Sequence[BatchLine]
    ) -> Iterator[AnsweredLine]:
        """Predict all texts of a part with one call of the prediction service."""
        del number
        is_ranking = batch.kind == RANK
        found = self._predictions.predict(
            model,
            [line.text for line in lines],
            dataset_type=model.type if is_ranking else KIND_TYPES[batch.kind][0],
            options=PredictionOptions(batch.count, judges=is_ranking),
        )
        for line, one in zip(lines, found, strict=True):
            yield AnsweredLine(line, one.items, judgement=one.judgement)
