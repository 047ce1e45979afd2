"""Checks the size and kind of an uploaded file before the service responds to the request.

The rules depend on the family of the upload, `language` or `vision`. IngestService reads the
content later. See contract section 5, Limits.
"""

from __future__ import annotations

import io

from chalicelib.domain.common.limits import (
    MAX_ARCHIVE_BYTES_BY_PATH,
    MAX_ARCHIVE_BYTES_IN_CALL,
    MAX_TEXT_FILE_BYTES,
)
from chalicelib.domain.datasets.dataset import VISION
from chalicelib.errors import InvalidUpload, TooLarge, UnsupportedType
from chalicelib.formats.archives.zip_archive import explain_foreign, looks_like_zip
from chalicelib.formats.texts.encoding import HEAD_BYTES, explain_foreign_type
from chalicelib.formats.texts.tools.zip_tools import is_zip_export, may_be_zip_export
from chalicelib.formats.texts.workbook import is_workbook, may_be_workbook

_ZIP_END = b"PK\x05\x06"
_ZIP_END_BYTES = 22 + 0xFFFF  # The end record and the longest comment that may follow it.


def max_path_bytes(family: str) -> int:
    """Return the maximum size in bytes of a file that a request names by the field `path`."""
    return MAX_ARCHIVE_BYTES_BY_PATH if family == VISION else MAX_TEXT_FILE_BYTES


def check_path_bytes(family: str, size_bytes: int) -> None:
    """Raise TooLarge if a file that a request names by `path` is too large for its family."""
    limit = max_path_bytes(family)
    if size_bytes > limit:
        raise TooLarge(
            f"The file has {size_bytes} bytes; at most {limit} are allowed. "
            "Split it, and add the other parts with PUT."
        )


def explain_head(family: str, head: bytes, encoding: str = "") -> str:
    """Describe a file that cannot be uploaded: name its kind, and say what to send instead.

    Args:
        family: `language` or `vision`.
        head: The first bytes of the file; 4,096 are enough.
        encoding: Encoding that the request names; empty to detect it.

    Returns:
        A sentence; "" if the file can be an upload of the family.
    """
    if family == VISION:
        return explain_foreign(head)
    return (
        ""
        if may_be_workbook(head) or may_be_zip_export(head)
        else explain_foreign_type(head, encoding)
    )


def check_content(family: str, content: bytes, encoding: str = "") -> None:
    """Raise an error if a file in a request is empty, too large, or not of the expected kind.

    Args:
        family: `language` or `vision`.
        content: Content of the file.
        encoding: Encoding that the request names; empty to detect it.

    Raises:
        InvalidUpload: the file is empty.
        TooLarge: the file exceeds the size limit of files in a request.
        UnsupportedType: the file is not a text file or, for vision, not a zip archive.
    """
    if family == VISION:
        _check_archive(content)
    else:
        _check_text(content, encoding)


def _check_text(content: bytes, encoding: str) -> None:
    size = len(content)
    if size == 0:
        raise InvalidUpload("The file has 0 bytes. Send a file with one text and label a row.")
    if size > MAX_TEXT_FILE_BYTES:
        raise TooLarge(
            f"The file has {size} bytes; at most {MAX_TEXT_FILE_BYTES} (25 MB) are allowed. "
            "Split it, and add the other parts with PUT."
        )
    file = io.BytesIO(content)
    if is_workbook(file) or is_zip_export(file):
        return
    explanation = explain_foreign_type(content[:HEAD_BYTES], encoding)
    if explanation:
        raise UnsupportedType(explanation)


def _check_archive(content: bytes) -> None:
    size = len(content)
    if size == 0:
        raise InvalidUpload("The file has 0 bytes. Send a .zip archive of PNG and JPEG images.")
    if size > MAX_ARCHIVE_BYTES_IN_CALL:
        raise TooLarge(
            f"The archive has {size} bytes; at most {MAX_ARCHIVE_BYTES_IN_CALL} (50 MB) are "
            "allowed in a call. Send it with POST /v2/uploads, or host it at a URL, and send "
            f"that as 'path', which may have {MAX_ARCHIVE_BYTES_BY_PATH} bytes (2 GB)."
        )
    head = content[:HEAD_BYTES]
    explanation = explain_foreign(head)
    if not explanation and not looks_like_zip(head) and _ZIP_END not in content[-_ZIP_END_BYTES:]:
        explanation = (
            "The file is not a zip archive: it neither begins nor ends like one. "
            "Send a .zip archive of PNG and JPEG images."
        )
    if explanation:
        raise UnsupportedType(explanation)
