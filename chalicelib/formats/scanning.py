"""Previews an upload of any type, as the ingest would read it into an empty dataset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from chalicelib.domain.datasets.dataset import FAMILY_TYPES, LANGUAGE, SENTIMENT
from chalicelib.domain.datasets.receipt import UploadScan
from chalicelib.domain.datasets.upload_format import ReadingOptions
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.picture_scan import PictureRules, Sink, scan_pictures
from chalicelib.formats.archives.zip_directory import InvalidZip
from chalicelib.formats.texts.language_scan import ScanRules, scan


@dataclass(frozen=True)
class DatasetKind:
    """The dataset that a file would be added to."""

    type: str
    language: str
    options: ReadingOptions
    """How the caller wants the file to be read."""


def scan_upload(
    file: BinaryIO,
    kind: DatasetKind,
    begin: Callable[[UploadScan], object],
    check: Callable[[], None],
) -> UploadScan:
    """Decide what would happen to each example of a file, without storing anything.

    Args:
        file: Seekable; read from its start.
        kind: The dataset that it would be added to.
        begin: Called with the decision before the first example, so that the caller
            knows how far a scan came that fails.
        check: Called regularly; raises to stop.

    Raises:
        InvalidUpload: the upload would fail, with the same text.
    """
    if kind.type in FAMILY_TYPES[LANGUAGE]:
        rules = ScanRules(kind.language, kind.type == SENTIMENT, options=kind.options)
        return scan(file, rules, begin, check)
    pictures = PictureRules(kind.type, options=kind.options)
    try:
        return scan_pictures(file, pictures, Sink(lambda *_: None, check, begin))
    except InvalidZip as problem:
        raise InvalidUpload(f"The file is not a usable zip archive: {problem.cause}") from problem
