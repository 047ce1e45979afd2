"""Opens PNG, JPEG and PDF documents for text recognition. The content shows which type it is.

An image is one page, as displayed. The text layer of a PDF page is used if it is reliable, because
its text is exact and fast to read. Otherwise the page is rendered to pixels.

Example:
    with open_document(data, max_pages=8) as document:
        page = document.page(1, needs_pixels=False)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from chalicelib.domain.common.limits import MAX_OCR_BYTES
from chalicelib.domain.documents.page import Page
from chalicelib.errors import BadRequest, TooLarge, UnsupportedType
from chalicelib.formats.pdf.document import PdfDocument
from chalicelib.formats.pdf.geometry import MAX_RASTER_PIXELS
from chalicelib.formats.pictures.content_type import HEAD_BYTES, explain_foreign, sniff
from chalicelib.formats.pictures.png_exif import standardize_orientation
from chalicelib.formats.pictures.reading import picture_facts, read_picture

if TYPE_CHECKING:
    from typing import Self

    from chalicelib.domain.common.arrays import Pixels

# Time limit for reading or rendering one page of a PDF: a hostile page can take hours.
PAGE_SECONDS = 5.0
# PDF readers accept a signature anywhere in the first 1,024 bytes, so this does too.
SIGNATURE_BYTES = 1024


class Document(Protocol):
    """An open document. It is a context manager, and must be closed."""

    @property
    def page_count(self) -> int:
        """Return the number of pages, at least 1."""

    @property
    def is_picture(self) -> bool:
        """Return whether the document is an image, and not a PDF. Only images have a word limit."""

    def page(self, number: int, needs_pixels: bool, most_widgets: int = 0) -> Page:
        """Read a page. Several threads may call this method at the same time.

        Args:
            number: Number of the page, from 1.
            needs_pixels: Whether to render pixels even if the text layer is enough.
            most_widgets: Maximum number of form fields to read from a PDF page. Images have none.

        Returns:
            A page with pixels, with a text layer, or with both.

        Raises:
            BadRequest: the page cannot be read, or takes too much time or memory.
            IndexError: the document has no such page.
        """

    def close(self) -> None:
        """Release the document's pixels, files and processes."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *failure: object) -> None: ...


def open_document(
    data: bytes, max_pages: int, page_seconds: float = PAGE_SECONDS, seconds_left: float = math.inf
) -> Document:
    """Open a PNG, JPEG or PDF.

    Args:
        data: Content of the file.
        max_pages: Maximum number of pages of a PDF.
        page_seconds: Maximum time to open a PDF, and to read each of its pages, in seconds.
        seconds_left: Number of seconds that the caller can still wait.

    Raises:
        TooLarge: the file has more than 10 MB.
        UnsupportedType: the content is not a PNG, JPEG or PDF.
        BadRequest: the document is empty, damaged or encrypted, has no pages, has too many pages or
            pixels, or takes too long.
        TimedOut: the process that reads PDFs does not start, or no time is left.
    """
    if document_kind(data) == "pdf":
        return PdfDocument(data, max_pages, page_seconds, seconds_left)
    return PictureDocument(data)


def document_kind(data: bytes) -> str:
    """Return "png", "jpeg" or "pdf" for the bytes of a document of at most 10 MB.

    Raises:
        TooLarge: the file has more than 10 MB.
        BadRequest: the file has 0 bytes.
        UnsupportedType: the bytes are not a PNG, JPEG or PDF.
    """
    if len(data) > MAX_OCR_BYTES:
        raise too_large(len(data), MAX_OCR_BYTES)
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


def too_large(size_bytes: int, max_bytes: int) -> TooLarge:
    """Return the error for a document of `size_bytes` bytes if only `max_bytes` are allowed."""
    return TooLarge(
        f"The document has {size_bytes} bytes; at most {max_bytes} "
        f"({max_bytes / 1024**2:g} MB) are allowed. Send a smaller document.",
        "document_too_large",
    )


# Scaling in strips bounds the memory of Pillow's own copy.
_STRIP_ROWS = 256
# Resampling reads rows around a strip: 8 are more than the filter needs at any scale here.
_MARGIN_ROWS = 8


class PictureDocument:
    """A PNG or JPEG image, opened as a document of one page."""

    is_picture = True
    page_count = 1

    def __init__(self, data: bytes) -> None:
        """Decode an image.

        Raises:
            BadRequest: the image is damaged, truncated, too narrow, or has over 50,000,000 pixels.
        """
        self._page: Page | None = _read(standardize_orientation(data))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the pixels."""
        self._page = None

    def page(self, number: int, needs_pixels: bool, most_widgets: int = 0) -> Page:
        """Return the page, always with pixels and without form fields.

        Raises:
            IndexError: the number is not 1, or the document is closed.
        """
        del needs_pixels, most_widgets
        if number != 1 or self._page is None:
            raise IndexError(f"page {number} of an image")
        return self._page


def _read(data: bytes) -> Page:
    facts = picture_facts(data, MAX_OCR_BYTES)
    share = min(1.0, math.sqrt(MAX_RASTER_PIXELS / (facts.width * facts.height)))
    if share == 1:
        return _page(read_picture(data, MAX_OCR_BYTES, contrasts=True).pixels, facts.width)
    size = max(1, int(facts.width * share)), max(1, int(facts.height * share))
    picture = read_picture(data, MAX_OCR_BYTES, min(size), contrasts=True)
    return _page(_reduced(picture.pixels, size), facts.width)


def _reduced(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """Scale pixels down to the width and height `size`, unless the decoder has already done so.

    The image is scaled in strips, because Pillow's copy of a large image takes more memory than the
    image itself.
    """
    import numpy as np
    from PIL import Image

    width, height = size
    if pixels.shape[1] <= width:
        return pixels
    factor = pixels.shape[0] / height
    found = np.empty((height, width, 3), np.uint8)
    for top in range(0, height, _STRIP_ROWS):
        bottom = min(top + _STRIP_ROWS, height)
        first = max(0, math.floor(top * factor) - _MARGIN_ROWS)
        strip = Image.fromarray(pixels[first : math.ceil(bottom * factor) + _MARGIN_ROWS])
        box = (0, top * factor - first, pixels.shape[1], bottom * factor - first)
        small = strip.resize((width, bottom - top), Image.Resampling.HAMMING, box)
        found[top:bottom] = np.asarray(small)
    return found


def _page(pixels: Pixels, width: int) -> Page:
    return Page(1, pixels.shape[1], pixels.shape[0], width / pixels.shape[1], pixels)
