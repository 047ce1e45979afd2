"""Upload types accepted by size and first bytes."""

from __future__ import annotations

import gzip

import pytest

from chalicelib.domain.common.limits import MAX_ARCHIVE_BYTES_IN_CALL, MAX_TEXT_FILE_BYTES
from chalicelib.errors import InvalidUpload, ServiceError, TooLarge, UnsupportedType
from chalicelib.formats.upload_files import check_content, explain_head, max_path_bytes
from tests.pictures import draw, make_zip

ARCHIVE = make_zip({"a/1.png": draw()})


@pytest.mark.parametrize(
    "content",
    [ARCHIVE, b"#!/bin/sh\n" + ARCHIVE, bytes(1000) + ARCHIVE, ARCHIVE[:-30], make_zip({})],
)
def test_archives_pass(content: bytes) -> None:
    """A file that begins or ends like an archive is passed to the reader, even if broken."""
    check_content("vision", content)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (draw(), "PNG"),
        (draw(kind="JPEG"), "JPEG"),
        (b"GIF89a" + bytes(50), "GIF"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "WebP"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG"),
        (b"<!DOCTYPE html><html></html>", "HTML"),
        (b"Rar!\x1a\x07\x01\x00", "RAR"),
        (gzip.compress(b"x"), "gzip"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"text,label\n", "neither begins nor ends"),
        (bytes(5000), "neither begins nor ends"),
        (b"x", "neither begins nor ends"),
    ],
)
def test_other_kinds_are_unsupported(content: bytes, word: str) -> None:
    """A file that is certainly not an archive is refused with what to send."""
    with pytest.raises(UnsupportedType, match=rf"{word}.* Send a \.zip archive"):
        check_content("vision", content)


@pytest.mark.parametrize(
    ("family", "size", "error", "words"),
    [
        ("vision", 0, InvalidUpload, r"0 bytes\. Send a \.zip"),
        ("language", 0, InvalidUpload, r"0 bytes\. Send a file with one text"),
        ("vision", MAX_ARCHIVE_BYTES_IN_CALL + 1, TooLarge, "52428801.*52428800.*'path'.*2 GB"),
        ("language", MAX_TEXT_FILE_BYTES + 1, TooLarge, "26214401.*26214400.*Split"),
    ],
)
def test_sizes(family: str, size: int, error: type[ServiceError], words: str) -> None:
    """An empty file, or one over its limit, is refused with both numbers and the remedy."""
    with pytest.raises(error, match=words):
        check_content(family, b"x" * size)


def test_largest_archive_passes() -> None:
    """The limit itself is allowed."""
    check_content("vision", ARCHIVE[:4] + bytes(MAX_ARCHIVE_BYTES_IN_CALL - 4))


def test_first_bytes_of_an_address() -> None:
    """For a file at a URL only its first bytes are checked."""
    assert explain_head("vision", ARCHIVE[:4096]) == ""
    assert "PNG" in explain_head("vision", draw()[:4096])
    assert "zip" in explain_head("language", ARCHIVE[:4096])
    assert explain_head("language", b"a,b\n") == ""


def test_limits_of_an_address() -> None:
    """An archive by `path` may have 2 GB, a text file has the limit of a call."""
    assert (max_path_bytes("vision"), max_path_bytes("language")) == (2 << 30, 25 << 20)
