"""Batches of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from chalicelib.domain.jobs.batch_work import Check
from chalicelib.domain.jobs.ranking import check_ranked
from chalicelib.domain.models.judgement import Judgement
from chalicelib.domain.models.model import ServedModel
from chalicelib.domain.models.prediction import Ranked
from chalicelib.formats.texts.batch_file import asked_line, check_sent, read_lines

if TYPE_CHECKING:
    from chalicelib.stores.examples.examples import ExampleStore

AnswerTexts = Callable[[ServedModel, Sequence[str], str, int | None], list[Ranked]]
"""Answers texts with a model of a type of data, so many labels each."""
JudgeTexts = Callable[[ServedModel, Sequence[str]], Iterator[Judgement]]
"""Says what a model makes of texts."""


class TextWork:
    """Reads and answers texts."""

    max_bytes = MAX_BATCH_BYTES
    """Most bytes of a file behind a `path`."""

    def __init__(
        self,
        examples: ExampleStore,
        check_model: Callable[[ServedModel, str], None],
        answer_texts: AnswerTexts,
        judge_texts: JudgeTexts,
    ) -> None:
        self._examples = examples
        self._check_model = check_model
        self._answer_texts = answer_texts
        self._judge_texts = judge_texts

    def check_model(self, model: ServedModel, kind: str) -> None:
        """Refuse a model that cannot answer texts."""
        if kind == RANK:
            check_ranked(LANGUAGE, model)
        self._check_model(model, model.type if kind == RANK else KIND_TYPES[kind][0])

    def check_sent(self, content: bytes) -> None:
        """Refuse what is no file of texts."""
        check_sent(content)

    def fits_call(self, kind: str, content: bytes) -> bool:
        """Tell that the parts of every file are written within the call."""
        del kind, content
        return True

    def read(self, batch: Batch, file: BinaryIO, check: Check) -> Iterator[BatchLine]:
        """Read the lines of a file."""
        return read_lines(file, str(batch.source.get("column", "")), check)

    def of_dataset(self, batch: Batch, dataset: Dataset) -> Iterator[BatchLine]:
        """Read the uploaded texts of a dataset."""
        del batch
        found = self._examples.read_all(dataset.dataset_id, UPLOAD, dataset.counts)
        for row, example in enumerate(found, 1):
            yield asked_line(row, str(example.example_id), example.name)

    def answer(
        self, batch: Batch, number: int, model: ServedModel, lines: Sequence[BatchLine]
    ) -> Iterator[AnsweredLine]:
        """Answer the texts of a part side by side."""
        del number
        texts = [line.text for line in lines]
        if batch.kind == RANK:
            judged = self._judge_texts(model, texts)
            return (
                AnsweredLine(line, judgement=found)
                for line, found in zip(lines, judged, strict=True)
            )
        made = self._answer_texts(model, texts, KIND_TYPES[batch.kind][0], batch.count)
        return map(AnsweredLine, lines, made)
