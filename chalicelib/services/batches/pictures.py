"""Batches of images and documents.

Each image or document is one line of a batch. A list of lines, called a part, is stored in the
bucket with the lines' files. If a batch reads a dataset, the images that the dataset stores are
used. Only a few files are in memory at a time.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from chalicelib.domain.common.limits import (
    MAX_ARCHIVE_BYTES_BY_PATH,
    MAX_OCR_BYTES,
    MAX_PREDICTED_IMAGE_BYTES,
)
from chalicelib.domain.datasets.dataset import UPLOAD, VISION, Dataset
from chalicelib.domain.documents.ocr import FORM, DocumentFindings, OcrRequest
from chalicelib.domain.documents.sample import Sample
from chalicelib.domain.jobs.batch import (
    KIND_TYPES,
    MAX_BATCH_FILES,
    RANK,
    READ,
    AnsweredLine,
    Batch,
    BatchLine,
    LineError,
    part_lines,
)
from chalicelib.domain.jobs.batch_table import InputTable
from chalicelib.domain.jobs.batch_work import Check
from chalicelib.domain.jobs.ranking import check_ranked
from chalicelib.domain.models.model import ServedModel
from chalicelib.domain.models.prediction import ImagePredictor, PredictionOptions
from chalicelib.errors import (
    BadRequest,
    InvalidUpload,
    MachineBusy,
    TimedOut,
    TooLarge,
    UnsupportedType,
)
from chalicelib.formats import documents
from chalicelib.formats.archives.batch_members import count_members, read_members
from chalicelib.formats.archives.zip_directory import InvalidZip
from chalicelib.formats.pictures import rules
from chalicelib.formats.upload_files import check_content

if TYPE_CHECKING:
    from chalicelib.domain.documents.form_template import FormTemplate
    from chalicelib.stores.examples.examples import ExampleStore
    from chalicelib.stores.examples.pictures import PictureStore
    from chalicelib.stores.jobs.batch_files import BatchFiles

# Returns the answer for the file of a line; raises an error if the file is faulty.
Answer = Callable[[BatchLine, bytes], AnsweredLine]
# Time limit of a document in seconds: three times that of a call. A part still fits into one run
# of a function.
DOCUMENT_SECONDS = 90.0
# Pause before a document is read again after a MachineBusy, in seconds.
BUSY_SECONDS = 5.0
# A file with more parts is split by a worker, because the call would take too long.
PARTS_IN_CALL = 100
# The answer of a line whose image was deleted while the batch ran.
GONE = LineError("example_not_found", "The image was deleted before it was answered.")


class DocumentReader(Protocol):
    """The methods of the document service that batches use."""

    def require_networks(self, model: ServedModel) -> None:
        """Raise an error if the networks of a model are missing."""

    def template(
        self, source: bytes | str | Mapping[str, object] | None, form_type: str | None
    ) -> FormTemplate:
        """Return the form template of a request, or the built-in template of a standard form."""

    def read_content(
        self,
        model: ServedModel,
        content: bytes,
        request: OcrRequest,
        seconds_left: Callable[[], float],
    ) -> DocumentFindings:
        """Read a document, and return the findings that the request asks for."""


# Errors of a single file. Any other error fails the part, which is then repeated.
_REFUSALS = (BadRequest, TooLarge, UnsupportedType, TimedOut)


class PictureWork:
    """Reads the input of batches of images or documents, and answers each line of the input."""

    max_bytes = MAX_ARCHIVE_BYTES_BY_PATH
    """Maximum size in bytes of an archive that a call gives by `path`."""

    def __init__(
        self,
        batch_files: BatchFiles,
        examples: ExampleStore,
        pictures: PictureStore,
        predictions: ImagePredictor,
        ocr: DocumentReader,
    ) -> None:
        self._batch_files = batch_files
        self._examples = examples
        self._pictures = pictures
        self._predictions = predictions
        self._ocr = ocr

    def check_model(self, model: ServedModel, kind: str) -> None:
        """Raise an error if the model cannot answer batches of the given kind."""
        if kind == RANK:
            check_ranked(VISION, model)
        if kind == READ:
            model.require_type(KIND_TYPES[kind])
            self._ocr.require_networks(model)
        else:
            self._predictions.check(model, KIND_TYPES[kind])

    def check_sent(self, content: bytes, encoding: str) -> None:
        """Raise an error if a file that was sent in the call is not an archive."""
        del encoding
        check_content(VISION, content)

    def fits_call(self, kind: str, content: bytes) -> bool:
        """Return whether an archive has so few files that the call itself divides it into parts."""
        try:
            return count_members(io.BytesIO(content)) <= PARTS_IN_CALL * part_lines(VISION, kind)
        except InvalidZip as problem:
            raise _no_archive(problem) from problem

    def read(
        self, batch: Batch, file: BinaryIO, check: Check, table: InputTable
    ) -> Iterator[BatchLine]:
        """Yield a batch line for each file of an archive."""
        del table
        limit, too_large = MAX_PREDICTED_IMAGE_BYTES, rules.too_large
        if batch.kind == READ:
            limit, too_large = MAX_OCR_BYTES, documents.too_large
        try:
            yield from read_members(file, limit, too_large, check)
        except InvalidZip as problem:
            raise _no_archive(problem) from problem

    def of_dataset(self, batch: Batch, dataset: Dataset) -> Iterator[BatchLine]:
        """Yield one line per uploaded image of a dataset, with the id of the image's first example.

        Raises:
            InvalidUpload: the dataset has too many images.
        """
        del batch
        seen: set[bytes] = set()
        found = self._examples.read_all(dataset.dataset_id, UPLOAD, dataset.counts)
        for example in found:
            digest = bytes.fromhex(example.picture)
            # In detection datasets each box is an example, so an image has many.
            if digest not in seen:
                seen.add(digest)
                if len(seen) > MAX_BATCH_FILES:
                    raise InvalidUpload(
                        f"Dataset {dataset.dataset_id} has more than {MAX_BATCH_FILES:,} images, "
                        "the most of a batch. Send them as archives, each as a separate batch."
                    )
                yield BatchLine(len(seen), str(example.example_id), example.picture)

    def answer(
        self, batch: Batch, number: int, model: ServedModel, lines: Sequence[BatchLine]
    ) -> Iterator[AnsweredLine]:
        """Yield each line with its answer, or with an error if the line's file cannot be used."""
        ask = self._reader(batch, model) if batch.kind == READ else self._answerer(batch, model)
        for line, content in self._contents(batch, number, lines):
            if content is None:
                yield AnsweredLine(line, error=GONE)
                continue
            try:
                yield ask(line, content)
            except _REFUSALS as refusal:
                yield AnsweredLine(line, error=LineError(refusal.code, refusal.message))

    def _answerer(self, batch: Batch, model: ServedModel) -> Answer:
        """Return a function that predicts labels or boxes of an image, or judges it for ranking."""
        types = KIND_TYPES[batch.kind]
        options = PredictionOptions(batch.count, judges=batch.kind == RANK)
        # A model that is refused here fails the whole part. In `answer`, the error would be that of
        # one line.
        self._predictions.check(model, types)

        def answer(line: BatchLine, content: bytes) -> AnsweredLine:
            [found] = self._predictions.predict(
                model, [Sample(content=content)], types=types, options=options
            )
            return AnsweredLine(line, found.items, judgement=found.judgement)

        return answer

    def _reader(self, batch: Batch, model: ServedModel) -> Answer:
        """Return a function that reads the document of a batch line within DOCUMENT_SECONDS."""
        request = self._request(batch)
        self._ocr.require_networks(model)

        def read(line: BatchLine, content: bytes) -> AnsweredLine:
            until = time.monotonic() + DOCUMENT_SECONDS

            def seconds_left() -> float:
                return until - time.monotonic()

            while True:
                try:
                    found = self._ocr.read_content(model, content, request, seconds_left)
                except MachineBusy:
                    # Only this document is read again: the part's documents before it are done.
                    if seconds_left() < 2 * BUSY_SECONDS:
                        raise
                    time.sleep(BUSY_SECONDS)
                else:
                    return AnsweredLine(line, document=found, task=request.task)

        return read

    def _request(self, batch: Batch) -> OcrRequest:
        """Build the OCR request for one document from the options that are stored in the batch."""
        fields: dict[str, Any] = dict(batch.reading)
        form_type = fields.pop("form_type", None)
        template = None
        if fields["task"] == FORM:
            source = self._batch_files.template(batch) if form_type is None else None
            template = self._ocr.template(source, None if form_type is None else str(form_type))
        return OcrRequest(template=template, **fields)

    def _contents(
        self, batch: Batch, number: int, lines: Sequence[BatchLine]
    ) -> Iterator[tuple[BatchLine, bytes | None]]:
        """Yield each line with its file's bytes, or with None if the file was deleted."""
        if "dataset" not in batch.source:
            return iter(self._batch_files.contents(batch, number, lines))
        dataset_id = int(str(batch.source["dataset"]))
        # For a dataset, the text of a line is the digest of its image.
        wanted = ((line, line.text) for line in lines)
        return self._pictures.read_ahead(dataset_id, wanted)


def _no_archive(problem: InvalidZip) -> InvalidUpload:
    return InvalidUpload(str(problem))
