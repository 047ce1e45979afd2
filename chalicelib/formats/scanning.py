"""Previews an upload of any type: decides which examples an empty dataset would accept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import BinaryIO

from chalicelib.domain.datasets.dataset import FAMILY_TYPES, LANGUAGE, SENTIMENT
from chalicelib.domain.datasets.preview import Preview
from chalicelib.domain.datasets.receipt import UploadScan
from chalicelib.domain.datasets.upload_format import ReadingOptions
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.picture_scan import ImageRules, Sink, scan_images
from chalicelib.formats.archives.zip_directory import InvalidZip
from chalicelib.formats.texts.language_scan import ScanRules, TextScan, preview_scan, scan


@dataclass(frozen=True)
class DatasetKind:
    """Type and language of the dataset to which a file would be added."""

    type: str
    language: str
    options: ReadingOptions
    """How the caller wants the file to be read."""


@dataclass(frozen=True)
class ScannedUpload:
    """The result of `scan_upload`: counts of examples, and the preview if one was requested."""

    scan: UploadScan
    preview: Preview | None = None


def scan_upload(
    file: BinaryIO,
    kind: DatasetKind,
    begin: Callable[[UploadScan], object],
    check: Callable[[], None],
    *,
    shows_rows: bool = False,
) -> ScannedUpload:
    """Decide which examples of a file would be accepted, without storing anything.

    Args:
        file: The upload, seekable; it is read from its start.
        kind: The dataset to which the file would be added.
        begin: Called with the object that receives the counts, before the first example is read.
            So the caller has the counts even if the scan fails. A scan of texts that starts again
            calls `begin` with a new object.
        check: Called often; may raise an error to stop.
        shows_rows: Whether to return a preview of the first rows. An error may contain it, too.

    Raises:
        InvalidUpload: the upload would fail with this error.
    """
    if kind.type in FAMILY_TYPES[LANGUAGE]:
        return _scan_texts(file, kind, begin, check, shows_rows=shows_rows)
    pictures = ImageRules(kind.type, options=kind.options)
    try:
        scanned = scan_images(file, pictures, Sink(lambda *_: None, check, begin))
        return ScannedUpload(scanned, Preview(tuple(scanned.first_rows)) if shows_rows else None)
    except InvalidZip as problem:
        raise InvalidUpload(f"The file is not a usable zip archive: {problem.cause}") from problem


def _scan_texts(
    file: BinaryIO,
    kind: DatasetKind,
    begin: Callable[[UploadScan], object],
    check: Callable[[], None],
    *,
    shows_rows: bool,
) -> ScannedUpload:
    rules = ScanRules(
        kind.language, kind.type == SENTIMENT, options=kind.options, lists_sheets=shows_rows
    )
    begun = [TextScan()]

    def note(decision: UploadScan) -> None:
        begin(decision)
        if isinstance(decision, TextScan):
            begun[0] = decision

    try:
        decision = scan(file, rules, note, check)
    except InvalidUpload as refusal:
        if shows_rows and begun[0].format is not None:
            # The format is known, so the rows can be shown although none of them may be usable.
            with suppress(InvalidUpload):
                refusal.preview = preview_scan(file, rules, begun[0])
        elif begun[0].sheets and refusal.preview:
            refusal.preview = replace(refusal.preview, sheets=begun[0].sheets)
        raise
    return ScannedUpload(decision, preview_scan(file, rules, decision) if shows_rows else None)
