"""Reads uploaded files: plans which texts or images become examples.

An image is stored under its digest while its archive is read, so a repeated attempt skips images
that are stored. The images of a failed upload are deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import BinaryIO

from chalicelib.domain.common.limits import (
    MAX_ARCHIVE_BYTES_BY_PATH,
    MAX_IMAGE_NAME_CHARACTERS,
    MAX_TEXT_FILE_BYTES,
)
from chalicelib.domain.datasets.dataset import (
    DETECTION,
    FEEDBACK,
    SENTIMENT,
    SOURCES,
    UPLOAD,
    Dataset,
)
from chalicelib.domain.datasets.example import Example
from chalicelib.domain.datasets.label_names import former_names, ids_by_name
from chalicelib.domain.datasets.receipt import IngestPlan, ParsedExample, UploadScan
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.picture_scan import (
    FeedbackRules,
    ImageRules,
    ImageScan,
    Sink,
    scan_images,
)
from chalicelib.formats.archives.zip_archive import ZipArchive, open_archive
from chalicelib.formats.archives.zip_directory import InvalidZip
from chalicelib.formats.pictures.rules import PictureFacts
from chalicelib.formats.texts.language_scan import ScanRules, TextScan, kept_rows, scan
from chalicelib.stores.datasets.labels import LabelStore
from chalicelib.stores.datasets.leases import OwnedDataset
from chalicelib.stores.examples.examples import ExampleStore
from chalicelib.stores.examples.pictures import PictureStore, PictureWriter

# Examples between two checks of the lease.
_CHECK_EXAMPLES = 1_000
# Maximum number of images that one call of the bucket deletes.
_DELETED_AT_ONCE = 1_000
_CONTENT_TYPES = {"png": "image/png", "jpeg": "image/jpeg"}


class TextReader:
    """Plans which rows of a text file become examples, without storing anything."""

    max_bytes = MAX_TEXT_FILE_BYTES
    """Maximum size in bytes of a file that a call gives by `path`."""
    download_seconds = 300.0
    """Time limit of a download in seconds."""

    def __init__(self, labels: LabelStore, examples: ExampleStore) -> None:
        self._labels = labels
        self._examples = examples

    def read(
        self,
        owned: OwnedDataset,
        file: BinaryIO,
        check: Callable[[], None],
        begin: Callable[[UploadScan], object],
    ) -> IngestPlan:
        """Plan which rows of a file become examples.

        Raises:
            InvalidUpload: the file cannot be read, has no usable row, or exceeds a limit of the
                dataset.
        """
        rules = self._rules(owned)
        decision = scan(file, rules, begin, check)
        return IngestPlan(decision, lambda: _accepted_texts(file, rules, decision))

    def discard(self, owned: OwnedDataset, check: Callable[[], None]) -> None:
        """Do nothing, because reading a text file stores nothing."""

    def _rules(self, owned: OwnedDataset) -> ScanRules:
        """Return the rules for reading a file, including the digests of the dataset's examples."""
        dataset = owned.dataset
        # Only uploads: a text that exists as feedback may still be uploaded.
        known, former = _known_examples(self._labels, self._examples, dataset, UPLOAD)
        return ScanRules(
            language=dataset.language,
            is_sentiment=dataset.type == SENTIMENT,
            known=known,
            renames=former,
            examples=dataset.total,
            bytes=dataset.bytes,
            options=owned.upload.reading_options,
        )


def _accepted_texts(
    file: BinaryIO, rules: ScanRules, decision: TextScan
) -> Iterator[ParsedExample]:
    """Read the file again, and yield the rows that the scan `decision` accepted."""
    # A second pass, so that a large file is never in memory as a whole.
    for row in kept_rows(file, rules, decision):
        yield ParsedExample(row.label, row.text, waiting=row.text)


class PictureReader:
    """Reads archives of images."""

    max_bytes = MAX_ARCHIVE_BYTES_BY_PATH
    """Maximum size in bytes of an archive that a call gives by `path`."""
    download_seconds = 600.0
    """Time limit of a download in seconds."""

    def __init__(self, examples: ExampleStore, labels: LabelStore, pictures: PictureStore) -> None:
        self._examples = examples
        self._labels = labels
        self._pictures = pictures

    def read(
        self,
        owned: OwnedDataset,
        file: BinaryIO,
        check: Callable[[], None],
        begin: Callable[[UploadScan], object],
    ) -> IngestPlan:
        """Plan which images or boxes become examples, and store the accepted images.

        Raises:
            InvalidUpload: the file is not a zip archive, has no usable image, or exceeds a limit.
        """
        dataset = owned.dataset
        stored = self._pictures.stored(dataset.dataset_id)
        try:
            rules = self._rules(owned, file, check)
            with PictureWriter(self._pictures, dataset.dataset_id, stored) as writer:
                decision = scan_images(file, rules, Sink(_storing_function(writer), check, begin))
        except InvalidZip as problem:
            raise _invalid_zip(dataset, problem) from problem
        return IngestPlan(decision, lambda: _accepted_pictures(decision))

    def discard(self, owned: OwnedDataset, check: Callable[[], None]) -> None:
        """Delete images that no committed example uses.

        Raises:
            LeaseLost: another worker owns the dataset, or it is being deleted.
        """
        dataset = owned.dataset
        pictures = self._pictures
        unused = set(pictures.stored(dataset.dataset_id))
        if not unused:
            return
        for example in self._committed(dataset, check):
            unused.discard(example.picture)
        digests = sorted(unused)
        for first in range(0, len(digests), _DELETED_AT_ONCE):
            # Before each call: a worker that lost its lease would delete images of another upload.
            check()
            pictures.delete(dataset.dataset_id, digests[first : first + _DELETED_AT_ONCE])

    def _rules(self, owned: OwnedDataset, file: BinaryIO, check: Callable[[], None]) -> ImageRules:
        """Return the rules for reading an archive, with the digests of the dataset's examples."""
        dataset, source = owned.dataset, owned.upload.source
        options = owned.upload.reading_options
        known, former = _known_examples(self._labels, self._examples, dataset, source)
        rules = ImageRules(
            type=dataset.type,
            known=known,
            renames=former,
            pictures=self._digests(dataset, check),
            examples=dataset.total,
            bytes=dataset.bytes,
            options=options,
        )
        if source != FEEDBACK:
            return rules
        archive = open_archive(file, options.encoding)
        used = self._used_names(dataset, archive, check)
        return replace(rules, feedback=FeedbackRules(known, used))

    def _digests(self, dataset: Dataset, check: Callable[[], None]) -> frozenset[bytes]:
        """Return the digests of the images of committed examples."""
        examples, dataset_id = self._examples, dataset.dataset_id
        if dataset.type == DETECTION:
            # In detection datasets, the digest of an example is that of its box.
            return frozenset(bytes.fromhex(e.picture) for e in self._committed(dataset, check))
        return frozenset().union(
            *(examples.digests(dataset_id, source, dataset.counts) for source in SOURCES)
        )

    def _used_names(
        self, dataset: Dataset, archive: ZipArchive, check: Callable[[], None]
    ) -> frozenset[str]:
        """Return the file names in an archive that examples of the dataset already have."""
        names = {m.name[:MAX_IMAGE_NAME_CHARACTERS] for m in archive.members()}
        # Only names of the archive are held, so that memory does not grow with the dataset.
        return frozenset(e.name for e in self._committed(dataset, check) if e.name in names)

    def _committed(self, dataset: Dataset, check: Callable[[], None]) -> Iterator[Example]:
        """Yield all committed examples of a dataset, and call `check` often."""
        number = 0
        for source in SOURCES:
            examples = self._examples.read_all(dataset.dataset_id, source, dataset.counts)
            for example in examples:
                if number % _CHECK_EXAMPLES == 0:
                    check()
                number += 1
                yield example


def _storing_function(writer: PictureWriter) -> Callable[[bytes, bytes, PictureFacts], None]:

    def keep(digest: bytes, content: bytes, facts: PictureFacts) -> None:
        writer.put(digest.hex(), content, _CONTENT_TYPES[facts.kind])

    return keep


def _accepted_pictures(decision: ImageScan) -> Iterator[ParsedExample]:
    """Yield the examples that the scan `decision` accepted.

    Only the first example of an image sets `waiting`, which requests features of the image.
    """
    waiting: set[bytes] = set()
    for item in decision.items:
        picture = item.digest.hex()
        is_new = item.digest not in waiting
        waiting.add(item.digest)
        yield ParsedExample(item.label, item.name, picture, item.box, picture if is_new else "")


def _invalid_zip(dataset: Dataset, problem: InvalidZip) -> InvalidUpload:
    """Return the error for a file that is not an archive, with the cause."""
    # A documented text of the old API stays word for word, so `detail` has the cause.
    refusal = InvalidUpload(f"Invalid zip format provided for {dataset.name}")
    refusal.detail = problem.cause
    return refusal


def _known_examples(
    labels: LabelStore, examples: ExampleStore, dataset: Dataset, source: str
) -> tuple[dict[str, frozenset[bytes]], Mapping[str, str]]:
    """Return example digests by label name, and a map from former to present label names."""
    names = labels.all_names(dataset.counts)
    counts = {c.label_id: c for c in dataset.counts}
    former = former_names(names)
    known = {
        name: frozenset(examples.digests(dataset.dataset_id, source, [counts[label_id]]))
        for name, label_id in ids_by_name(names).items()
        if name not in former
    }
    return known, former
