"""What a document may be, and the errors that say so."""

from __future__ import annotations

from chalicelib.domain.common.limits import MAX_OCR_BYTES
from chalicelib.errors import BadRequest, TooLarge, UnsupportedType
from chalicelib.formats.pictures.content_type import HEAD_BYTES, explain_foreign, sniff

SIGNATURE_BYTES = 1024
"""The signature of a PDF stands within so many first bytes."""

_REASONS = {
    "password": (
        "The PDF needs a password. Remove the password and send it again.",
        "document_password",
    ),
    "security": (
        "The PDF is encrypted in a way that is not supported. Save it without protection and "
        "send that.",
        "document_password",
    ),
}


def document_kind(data: bytes) -> str:
    """Return "png", "jpeg" or "pdf" for bytes of a document that are not too many.

    Raises:
        TooLarge: more than 10 MB.
        BadRequest: no bytes at all.
        UnsupportedType: the bytes are none of the three.
    """
    if len(data) > MAX_OCR_BYTES:
        raise TooLarge(
            f"The document has {len(data)} bytes; at most {MAX_OCR_BYTES} "
            f"({MAX_OCR_BYTES / 1024**2:g} MB) are allowed. Send a smaller document.",
            "document_too_large",
        )
    if not data:
        raise BadRequest(
            "The document is empty: it has 0 bytes. Send a PNG, JPEG or PDF.", "empty_document"
        )
    kind = sniff(data[:HEAD_BYTES])
    if kind is not None:
        return kind
    if b"%PDF-" in data[:SIGNATURE_BYTES]:
        return "pdf"
    raise UnsupportedType(
        f"The file is {explain_foreign(data[:HEAD_BYTES])}; PNG, JPEG and PDF are supported.",
        "unsupported_document_type",
    )


def require_pages(count: int, most: int) -> None:
    """Refuse a PDF without pages or with too many, before any is read.

    Raises:
        BadRequest: names the limit, the pages and the remedy.
    """
    if count < 1:
        raise broken("it has no pages")
    if count > most:
        raise BadRequest(
            f"The PDF has {count} pages; at most {most} are allowed for this task. "
            "Split it and send the parts.",
            "too_many_pages",
        )


def refused(error: str) -> BadRequest:
    """Make the error of a PDF that PDFium refuses to open, from the child's word for it."""
    if error in _REASONS:
        return BadRequest(*_REASONS[error])
    return broken("it is damaged or truncated")


def broken(reason: str) -> BadRequest:
    """Make the error of a PDF that cannot be read; `reason` ends the first sentence."""
    return BadRequest(
        f"The PDF cannot be read: {reason}. Save it again as PDF and send that, "
        "or send its pages as PNG or JPEG.",
        "broken_document",
    )


def too_slow(what: str, seconds: float) -> BadRequest:
    """Make the error of a PDF, or a page of it, that takes too long to read."""
    return BadRequest(
        f"{what} could not be read within {seconds:g} seconds. "
        "Simplify it, or send it as PNG or JPEG.",
        "document_too_slow",
    )
