"""Decides what happens to every row of a text upload before anything is written.

The ingest scans a file once to decide and reads it again to write; both times the same rows are
kept. Spec: numOfDuplicates, Limits; contract section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import BinaryIO

from chalicelib.domain.datasets.example import text_digest
from chalicelib.domain.datasets.growth import check_bytes, check_examples, check_labels
from chalicelib.domain.datasets.receipt import RejectedItem, UploadScan
from chalicelib.domain.datasets.texts import count_words
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.language_file import LabelMerges, RejectedRow, TextRow, read_rows


@dataclass(frozen=True)
class ScanRules:
    """What a file is read against."""

    language: str
    """Language of the dataset, for the word count."""
    is_sentiment: bool
    """Only the three sentiments are labels."""
    known: Mapping[str, frozenset[bytes]] = field(default_factory=dict)
    """Labels that the dataset has, with the digests of their texts."""
    examples: int = 0
    """Examples that the dataset has."""
    bytes: int = 0
    """Bytes of the texts that the dataset has."""


@dataclass
class TextScan(UploadScan):
    """What happens to the rows of a file."""

    merges: LabelMerges = field(default_factory=LabelMerges)
    """Labels that cutting would merge."""
    words: int = 0
    """Words of the kept texts."""


def scan(
    file: BinaryIO, rules: ScanRules, begin: Callable[[UploadScan], object] = lambda _: None
) -> TextScan:
    """Read a file and decide what happens to each row.

    Args:
        file: seekable, read from its start.
        rules: the dataset that it is read into.
        begin: takes the decision before the first row, to know how far a scan came that raised.

    Returns:
        The decision.

    Raises:
        InvalidUpload: the file cannot be read, has no usable row, or breaks a dataset limit.
    """
    result = TextScan()
    begin(result)
    # A fault of the file is met again below, when the rows before it have been counted.
    with suppress(InvalidUpload):
        for row in read_rows(file, sentiment=rules.is_sentiment):
            if isinstance(row, TextRow):
                result.merges.add(row)
    for outcome in _outcomes(file, rules, result.merges):
        _count(result, outcome, rules)
    _check(result, rules)
    return result


def kept_rows(file: BinaryIO, rules: ScanRules, decision: TextScan) -> Iterator[TextRow]:
    """Read a scanned file again and yield the rows that become examples, in file order."""
    for outcome in _outcomes(file, rules, decision.merges):
        if isinstance(outcome, TextRow):
            yield outcome


def _outcomes(
    file: BinaryIO, rules: ScanRules, merges: LabelMerges
) -> Iterator[TextRow | RejectedRow | None]:
    """Yield each row that is kept, its rejection, or None for a duplicate."""
    seen: dict[str, set[bytes]] = {}
    nothing: frozenset[bytes] = frozenset()
    for row in read_rows(file, sentiment=rules.is_sentiment):
        if isinstance(row, RejectedRow):
            yield row
            continue
        refusal = merges.find_rejection(row)
        if refusal is not None:
            yield refusal
            continue
        digest = text_digest(row.text)
        digests = seen.setdefault(row.label, set())
        if digest in digests or digest in rules.known.get(row.label, nothing):
            yield None
        else:
            digests.add(digest)
            yield row


def _count(result: TextScan, outcome: TextRow | RejectedRow | None, rules: ScanRules) -> None:
    """Add one outcome to the decision."""
    if outcome is None:
        result.duplicates += 1
    elif isinstance(outcome, RejectedRow):
        result.reject(RejectedItem(outcome.reason, row=outcome.row))
    else:
        result.kept += 1
        if outcome.label not in result.kept_by_label:
            result.kept_by_label[outcome.label] = 0
            if outcome.label not in rules.known:
                result.new_labels.append(outcome.label)
        result.kept_by_label[outcome.label] += 1
        result.words += count_words(outcome.text, rules.language)
        result.bytes += len(outcome.text.encode("utf-8", "surrogatepass"))


def _check(result: TextScan, rules: ScanRules) -> None:
    """Refuse a file that is of no use, or that breaks a limit of the dataset."""
    if result.kept + result.duplicates == 0:
        first = result.rejections[0]
        raise InvalidUpload(
            f"None of the {result.rejected:,} rows can be used. Row {first.row}: {first.reason}"
        )
    labels = len(rules.known) + len(result.new_labels)
    check_labels(labels, "text and label are not swapped")
    check_examples(rules.examples + result.kept)
    check_bytes(rules.bytes + result.bytes)
