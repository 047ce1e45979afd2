"""Opens and reads documents in one call, for tests."""

from __future__ import annotations

import pytest

from chalicelib.errors import BadRequest, ServiceError
from chalicelib.formats.documents import open_document

LINES = ["The quick brown fox jumps over", "the lazy dog. (1234) £ 5 – 50 %"]
"""What the pages of these tests say."""


def texts(page):
    """Return the lines of a page's layer."""
    return [line.text for line in page.layer]


def first_page(data, needs_pixels=False, **options):
    """Open a document and read its first page."""
    with open_document(data, 8, **options) as document:
        return document.page(1, needs_pixels)


def every_page(data, max_pages=8, **options):
    """Open a document and draw all of its pages."""
    with open_document(data, max_pages, **options) as document:
        return [document.page(number, True) for number in range(1, document.page_count + 1)]


def refusal(data, max_pages=8, **options):
    """Return the error of a document that is refused when it is opened or read."""
    with pytest.raises(ServiceError) as caught:
        every_page(data, max_pages, **options)
    return caught.value


def page_or_code(data, **options):
    """Return the first page of a document, or the code of its refusal."""
    try:
        return first_page(data, **options)
    except BadRequest as error:
        return error.code
