"""Documents whose text is read: PNG, JPEG and PDF, told by their content, opened in bounds.

A picture is one page, as displayed. A PDF gives its own text where that can be trusted, which is
exact and cheap, and is drawn where it cannot.

with open_document(data, max_pages=8) as document:
    page = document.page(1, needs_pixels=False)   # Page(layer=(TextLine("Invoice 17", ...), ...))
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from chalicelib.formats.pdf.document import PdfDocument
from chalicelib.formats.pdf.rules import document_kind
from chalicelib.formats.pictures.document import PictureDocument

if TYPE_CHECKING:
    from typing import Self

    from chalicelib.domain.documents.page import Page

PAGE_SECONDS = 5.0
"""How long reading or drawing one page of a PDF may take."""


class Document(Protocol):
    """A document that is open; a context manager, to be left in any case."""

    @property
    def page_count(self) -> int:
        """How many pages there are, at least one."""

    @property
    def is_picture(self) -> bool:
        """Whether it is a PNG or JPEG; the limit of words holds for these."""

    def page(self, number: int, needs_pixels: bool) -> Page:
        """Read a page; safe to call from two threads.

        Args:
            number: From 1.
            needs_pixels: Whether pixels are wanted although a text layer is enough.

        Returns:
            A page with pixels, with a text layer, or with both.

        Raises:
            BadRequest: the page cannot be read, takes too long or too much memory.
            IndexError: there is no such page.
        """

    def close(self) -> None:
        """Give everything back that it holds."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *failure: object) -> None: ...


def open_document(
    data: bytes,
    max_pages: int,
    page_seconds: float = PAGE_SECONDS,
    seconds_left: float = math.inf,
) -> Document:
    """Open a PNG, JPEG or PDF.

    Args:
        data: The file.
        max_pages: Most pages a PDF may have.
        page_seconds: How long opening a PDF, and each page of it, may take.
        seconds_left: The time that the caller has to wait until it is open.

    Raises:
        TooLarge: more than 10 MB.
        UnsupportedType: none of the three, by its content.
        BadRequest: empty, broken, protected by a password, without pages, with too many pages
            or pixels, or taking too long.
        TimedOut: the process that reads PDFs does not start, or no time is left.
    """
    if document_kind(data) == "pdf":
        return PdfDocument(data, max_pages, page_seconds, seconds_left)
    return PictureDocument(data)
