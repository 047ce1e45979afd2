"""Plans which rows of a text file become examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from chalicelib.domain.common.limits import MAX_TEXT_FILE_BYTES
from chalicelib.domain.datasets.dataset import SENTIMENT, UPLOAD
from chalicelib.domain.datasets.label_names import former_names, ids_by_name
from chalicelib.domain.datasets.receipt import IngestPlan, ParsedExample, UploadScan
from chalicelib.formats.texts.language_scan import ScanRules, TextScan, kept_rows, scan
from chalicelib.stores.datasets.labels import LabelStore
from chalicelib.stores.datasets.leases import OwnedDataset
from chalicelib.stores.examples.examples import ExampleStore


class TextReader:
    """Plans which rows of a text file become examples, without storing anything."""

    max_bytes = MAX_TEXT_FILE_BYTES
    """Maximum size in bytes of a file behind a `path`."""
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
        return IngestPlan(decision, lambda: _examples(file, rules, decision))

    def discard(self, owned: OwnedDataset, check: Callable[[], None]) -> None:
        """Do nothing, because reading a text file stores nothing."""

    def _rules(self, owned: OwnedDataset) -> ScanRules:
        """Return the rules for reading a file, including the digests of the dataset's examples."""
        dataset = owned.dataset
        names = self._labels.all_names(dataset.counts)
        counts = {c.label_id: c for c in dataset.counts}
        former = former_names(names)
        known = {
            # Only uploads: a text that exists as feedback may still be uploaded.
            name: frozenset(self._examples.digests(dataset.dataset_id, UPLOAD, [counts[label_id]]))
            for name, label_id in ids_by_name(names).items()
            if name not in former
        }
        return ScanRules(
            language=dataset.language,
            is_sentiment=dataset.type == SENTIMENT,
            known=known,
            former=former,
            examples=dataset.total,
            bytes=dataset.bytes,
            options=owned.upload.reading_options,
        )


def _examples(file: BinaryIO, rules: ScanRules, decision: TextScan) -> Iterator[ParsedExample]:
    """Read the file again, and yield the accepted rows."""
    # A second pass, so that a large file is never in memory as a whole.
    for row in kept_rows(file, rules, decision):
        yield ParsedExample(row.label, row.text, waiting=row.text)
